#include "broker/store/change_writer.hpp"

#include "broker/store/options_text.hpp"
#include "broker/store/wall_nanoseconds.hpp"

namespace sessionq::broker {
namespace {

// Forgotten message ids are deleted from the store whenever so many new ones have been written.
constexpr std::size_t ids_between_forgetting = 1000;

} // namespace

void ChangeWriter::commit(const ChangeSet& set) {
    try {
        begin_.run();
        write(set);
        commit_.run();
    } catch (const DatabaseError&) {
        if (database_.is_in_transaction()) {
            database_.run("ROLLBACK");
        }
        throw;
    }
}

void ChangeWriter::write(const ChangeSet& set) {
    for (const ChangeSet::QueueChange& change : set.queues()) {
        std::visit([this](const auto& what) { apply(what); }, change);
    }
    for (const ChangeSet::MessageRow& row : set.messages()) {
        if (!set.is_removed(row.message.entity)) {
            write(row);
        }
    }
    for (const auto& [key, state] : set.states()) {
        if (set.is_removed(key.first)) {
            continue;
        }
        if (state) {
            set_state_.bind(key.first).bind_text(key.second).bind_bytes(*state).run();
        } else {
            clear_state_.bind(key.first).bind_text(key.second).run();
        }
    }
    for (const MessageIdTaken& taken : set.taken_ids()) {
        if (!set.is_removed(taken.entity)) {
            take_id_.bind(taken.entity)
                .bind_text(taken.message_id)
                .bind(taken.sequence)
                .bind(nanoseconds_of(taken.until))
                .run();
        }
        if (++ids_since_forgetting_ == ids_between_forgetting) {
            ids_since_forgetting_ = 0;
            forget_ids_.bind(nanoseconds_of(taken.at)).run();
        }
    }
    for (const auto& [entity, sequence] : set.last_sequences()) {
        set_last_sequence_.bind(sequence).bind(entity).run();
    }
}

void ChangeWriter::apply(const QueueCreated& created) {
    const std::string options = to_text(created.options);
    const std::string rules = codec_.encode_rules(created.rules);
    Statement{database_, "INSERT INTO queues (id, dead_letters, name, kind, options, "
                         "declared_rules, rules) VALUES (?, ?, ?, ?, ?, ?, ?)"}
        .bind(created.queue)
        .bind(created.dead_letters)
        .bind_text(created.name)
        .bind(static_cast<std::int64_t>(created.kind))
        .bind_text(options)
        .bind_bytes(rules)
        .bind_bytes(rules)
        .run();
    Statement{database_, "INSERT INTO entities (id) VALUES (?), (?)"}
        .bind(created.queue)
        .bind(created.dead_letters)
        .run();
}

void ChangeWriter::apply(const QueueOptionsChanged& changed) {
    const std::string options = to_text(changed.options);
    Statement{database_, "UPDATE queues SET options = ? WHERE id = ?"}
        .bind_text(options)
        .bind(changed.queue)
        .run();
}

void ChangeWriter::apply(const RulesDeclared& declared) {
    const std::string rules = codec_.encode_rules(declared.rules);
    Statement{database_, "UPDATE queues SET declared_rules = ?, rules = ? WHERE id = ?"}
        .bind_bytes(rules)
        .bind_bytes(rules)
        .bind(declared.queue)
        .run();
}

void ChangeWriter::apply(const RulesChanged& changed) {
    const std::string rules = codec_.encode_rules(changed.rules);
    Statement{database_, "UPDATE queues SET rules = ? WHERE id = ?"}
        .bind_bytes(rules)
        .bind(changed.queue)
        .run();
}

void ChangeWriter::apply(const QueueRemoved& removed) {
    Statement{database_, "DELETE FROM queues WHERE id = ?"}.bind(removed.queue).run();
    remove_entity(removed.queue);
    remove_entity(removed.dead_letters);
}

void ChangeWriter::remove_entity(EntityId entity) {
    Statement{database_, "DELETE FROM messages WHERE entity = ?"}.bind(entity).run();
    Statement{database_, "DELETE FROM session_states WHERE entity = ?"}.bind(entity).run();
    Statement{database_, "DELETE FROM taken_ids WHERE entity = ?"}.bind(entity).run();
    Statement{database_, "DELETE FROM entities WHERE id = ?"}.bind(entity).run();
}

void ChangeWriter::bind_facts(Statement& statement, const DurableMessage& message) {
    statement.bind(static_cast<std::int64_t>(message.place))
        .bind(message.delivery_count)
        .bind(nanoseconds_of(message.enqueued_time));
    if (message.time_to_live) {
        statement.bind(message.time_to_live->count());
    } else {
        statement.bind_nothing();
    }
    if (message.dead_letter) {
        statement.bind_text(message.dead_letter->reason)
            .bind_text(message.dead_letter->description);
    } else {
        statement.bind_nothing().bind_nothing();
    }
}

void ChangeWriter::write(const ChangeSet::MessageRow& row) {
    const DurableMessage& message = row.message;
    switch (row.action) {
    case ChangeSet::Action::nothing: break;
    case ChangeSet::Action::insert:
        bind_facts(insert_message_, message);
        insert_message_.bind_bytes(codec_.encode(*message.content, message.enqueued_time, scratch_))
            .bind(message.entity)
            .bind(message.sequence)
            .run();
        break;
    case ChangeSet::Action::update:
        bind_facts(update_message_, message);
        update_message_.bind(message.entity).bind(message.sequence).run();
        break;
    case ChangeSet::Action::update_with_content:
        bind_facts(update_content_, message);
        update_content_.bind_bytes(codec_.encode(*message.content, message.enqueued_time, scratch_))
            .bind(message.entity)
            .bind(message.sequence)
            .run();
        break;
    case ChangeSet::Action::erase:
        erase_message_.bind(message.entity).bind(message.sequence).run();
        break;
    }
    if (!message.forwarded_to.empty()) {
        write_forwarded_to(message);
    }
}

void ChangeWriter::write_forwarded_to(const DurableMessage& message) {
    std::string ids;
    for (const EntityId id : message.forwarded_to) {
        ids += std::to_string(id) + " ";
    }
    add_forwarded_to_.bind_text(ids).bind(message.entity).bind(message.sequence).run();
}

} // namespace sessionq::broker
