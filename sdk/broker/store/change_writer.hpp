// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "broker/content_codec.hpp"
#include "broker/store/change_set.hpp"
#include "broker/store/database.hpp"
#include "broker/store/ledger.hpp"
#include "broker/store/table_writer.hpp"

namespace sessionq::broker {

/// Writes change sets to a store, each with the checksums of its rows and the ledger. For one
/// thread at a time.
class ChangeWriter {
public:
    /// `database` and `codec` must outlive the writer. `prepare_store` has prepared the database.
    /// Throws DatabaseError.
    ChangeWriter(Database& database, const ContentCodec& codec);

    /// Writes and commits the whole set. If it throws, nothing of the set was written.
    void commit(const ChangeSet& set);

    /// What was committed, in this run and before.
    [[nodiscard]] const Ledger& ledger() const noexcept { return committed_; }

private:
    void write(const ChangeSet& set);
    void apply(const QueueCreated& created);
    void apply(const QueueOptionsChanged& changed);
    void apply(const RulesDeclared& declared);
    void apply(const RulesChanged& changed);
    void apply(const QueueRemoved& removed);
    void remove_entity(EntityId entity);
    void write(const ChangeSet::MessageRow& changed);
    void write_forwarded_to(const DurableMessage& message);
    [[nodiscard]] MessageRow row_of(const DurableMessage& message);

    Database& database_;
    const ContentCodec& codec_;
    std::string scratch_;
    std::string origin_{}; ///< of the row that is written
    std::size_t ids_since_forgetting_{0};
    Ledger committed_;
    Ledger ledger_{committed_}; // with what the open transaction adds
    TableWriters tables_{database_, ledger_};
    LedgerWriter ledger_writer_{database_};

    Statement begin_{database_, "BEGIN IMMEDIATE"};
    Statement commit_{database_, "COMMIT"};
};

} // namespace sessionq::broker
