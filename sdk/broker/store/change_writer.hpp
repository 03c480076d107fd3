// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "broker/content_codec.hpp"
#include "broker/store/change_set.hpp"
#include "broker/store/database.hpp"
#include "broker/store/ledger.hpp"
#include "broker/store/shared_contents.hpp"
#include "broker/store/table_writer.hpp"

namespace sessionq::broker {

/// Writes change sets to a store, each with the checksums of its rows and the ledger. A content
/// that goes to several messages is written once, if it is the same object and long enough. For one
/// thread at a time.
class ChangeWriter {
public:
    /// `database` and `codec` must outlive the writer. The database has the tables of the current
    /// version. `contents`: the shared contents that `read_store` found there. Throws
    /// DatabaseError.
    ChangeWriter(Database& database, const ContentCodec& codec, SharedContents contents);
    ChangeWriter(const ChangeWriter&) = delete;
    ChangeWriter& operator=(const ChangeWriter&) = delete;

    /// Writes and commits the whole set. If it throws, nothing of the set was written.
    void commit(const ChangeSet& set);

    /// The ledger of all commits, in this run and before.
    [[nodiscard]] const Ledger& ledger() const noexcept { return committed_; }

    /// From the next commit on the store says that its commits are not counted.
    void stop_counting() noexcept { committed_.run = ledger_.run = 0; }

    /// A shorter content is stored with each message: a row of its own would cost more.
    static constexpr std::size_t least_shared_bytes = 1024;

private:
    void write(const ChangeSet& set);
    void count_uses(const ChangeSet& set);
    void erase_unused_contents();
    void apply(const QueueCreated& created);
    void apply(const QueueOptionsChanged& changed);
    void apply(const RulesDeclared& declared);
    void apply(const RulesChanged& changed);
    void apply(const QueueRemoved& removed);
    void remove_entity(EntityId entity);
    void write(const ChangeSet::MessageRow& changed);
    void write_forwarded_to(const DurableMessage& message);
    [[nodiscard]] MessageRow row_of(const DurableMessage& message);
    [[nodiscard]] ContentCell store_content(const DurableMessage& message);
    [[nodiscard]] bool is_shared(const DurableMessage& message) const;

    Database& database_;
    const ContentCodec& codec_;
    SharedContents contents_;
    std::set<std::int64_t> topics_;
    std::unordered_map<const MessageContent*, std::size_t> uses_; ///< of long contents in the set
    std::string scratch_;
    std::string origin_{}; ///< of the row that is written
    std::size_t ids_since_forgetting_{0};
    Ledger committed_;
    Ledger ledger_{committed_}; // with the changes of the open transaction
    TableWriters tables_{database_, ledger_};
    LedgerWriter ledger_writer_{database_};

    Statement begin_{database_, "BEGIN IMMEDIATE"};
    Statement commit_{database_, "COMMIT"};
};

} // namespace sessionq::broker
