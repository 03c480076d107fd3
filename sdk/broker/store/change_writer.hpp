#pragma once

#include <string>

#include "broker/content_codec.hpp"
#include "broker/store/change_set.hpp"
#include "broker/store/database.hpp"

namespace sessionq::broker {

/// Writes change sets to a store. For one thread at a time.
class ChangeWriter {
public:
    /// `database` and `codec` must outlive the writer.
    ChangeWriter(Database& database, const ContentCodec& codec)
        : database_{database}, codec_{codec} {}

    /// Writes and commits the whole set. If it throws DatabaseError, nothing of the set was
    /// written.
    void commit(const ChangeSet& set);

private:
    void write(const ChangeSet& set);
    void apply(const QueueCreated& created);
    void apply(const QueueOptionsChanged& changed);
    void apply(const RulesDeclared& declared);
    void apply(const RulesChanged& changed);
    void apply(const QueueRemoved& removed);
    void remove_entity(EntityId entity);
    void write(const ChangeSet::MessageRow& row);
    void write_forwarded_to(const DurableMessage& message);
    void bind_facts(Statement& statement, const DurableMessage& message);

    Database& database_;
    const ContentCodec& codec_;
    std::string scratch_;
    std::size_t ids_since_forgetting_{0};

    Statement begin_{database_, "BEGIN IMMEDIATE"};
    Statement commit_{database_, "COMMIT"};
    Statement insert_message_{database_,
                              "INSERT OR REPLACE INTO messages (place, delivery_count, enqueued, "
                              "time_to_live, reason, description, content, entity, "
                              "sequence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    Statement update_message_{database_, "UPDATE messages SET place = ?, delivery_count = ?, "
                                         "enqueued = ?, time_to_live = ?, reason = ?, "
                                         "description = ? WHERE entity = ? AND sequence = ?"};
    Statement update_content_{database_,
                              "UPDATE messages SET place = ?, delivery_count = ?, enqueued = ?, "
                              "time_to_live = ?, reason = ?, "
                              "description = ?, content = ? WHERE entity = ? AND sequence = ?"};
    Statement add_forwarded_to_{
        database_,
        "UPDATE messages SET passed_to = passed_to || ? WHERE entity = ? AND sequence = ?"};
    Statement erase_message_{database_, "DELETE FROM messages WHERE entity = ? AND sequence = ?"};
    Statement set_state_{
        database_,
        "INSERT OR REPLACE INTO session_states (entity, session_id, state) VALUES (?, ?, ?)"};
    Statement clear_state_{database_,
                           "DELETE FROM session_states WHERE entity = ? AND session_id = ?"};
    Statement take_id_{database_, "INSERT OR REPLACE INTO taken_ids (entity, message_id, sequence, "
                                  "until) VALUES (?, ?, ?, ?)"};
    Statement forget_ids_{database_, "DELETE FROM taken_ids WHERE until <= ?"};
    Statement set_last_sequence_{
        database_, "UPDATE entities SET last_sequence = max(last_sequence, ?) WHERE id = ?"};
};

} // namespace sessionq::broker
