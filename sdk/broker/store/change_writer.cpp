// SPDX-License-Identifier: MIT
#include "broker/store/change_writer.hpp"

#include <algorithm>
#include <utility>

#include "broker/store/options_text.hpp"
#include "broker/store/origin_text.hpp"
#include "broker/store/wall_nanoseconds.hpp"

namespace sessionq::broker {
namespace {

// Forgotten message ids are deleted from the store whenever so many new ones have been written.
constexpr std::size_t ids_between_forgetting = 1000;

Ledger ledger_of(Database& database) {
    if (auto ledger = read_ledger(database)) {
        return *ledger;
    }
    throw DatabaseError{DatabaseError::Kind::damaged, "the ledger is missing or altered"};
}

bool is_long(const MessageContent& content) {
    return content.wire_bytes() >= ChangeWriter::least_shared_bytes;
}

} // namespace

ChangeWriter::ChangeWriter(Database& database, const ContentCodec& codec, SharedContents contents)
    : database_{database},
      codec_{codec},
      contents_{std::move(contents)},
      committed_{ledger_of(database)} {
    tables_.messages.on_release([this](std::int64_t content) { contents_.release(content); });
    Statement topics{database, "SELECT id FROM queues WHERE kind = ?"};
    topics.bind(static_cast<std::int64_t>(EntityKind::topic));
    while (topics.step()) {
        topics_.insert(topics.number(0));
    }
}

void ChangeWriter::commit(const ChangeSet& set) {
    try {
        begin_.run();
        write(set);
        ++ledger_.commits;
        ledger_writer_.write(ledger_);
        commit_.run();
        committed_ = ledger_;
        contents_.keep();
    } catch (...) {
        ledger_ = committed_;
        contents_.undo();
        if (database_.is_in_transaction()) {
            database_.run("ROLLBACK");
        }
        throw;
    }
}

void ChangeWriter::write(const ChangeSet& set) {
    count_uses(set);
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
        const SessionStateRow row{.entity = key.first,
                                  .session_id = key.second,
                                  .state = {state ? std::string_view{*state} : ""}};
        if (state) {
            tables_.states.put(row);
        } else {
            tables_.states.erase(row);
        }
    }
    for (const MessageIdTaken& taken : set.taken_ids()) {
        if (!set.is_removed(taken.entity)) {
            tables_.taken_ids.insert({.entity = taken.entity,
                                      .message_id = taken.message_id,
                                      .sequence = taken.sequence,
                                      .until = nanoseconds_of(taken.until)});
        }
        if (++ids_since_forgetting_ == ids_between_forgetting) {
            ids_since_forgetting_ = 0;
            tables_.taken_ids.erase_where("until <= ?", nanoseconds_of(taken.at));
        }
    }
    for (const auto& [entity, sequence] : set.last_sequences()) {
        tables_.entities.change({.id = entity}, [last = sequence](EntityRow& row) {
            row.last_sequence = std::max(row.last_sequence, last);
        });
    }
    erase_unused_contents();
}

void ChangeWriter::count_uses(const ChangeSet& set) {
    uses_.clear();
    for (const ChangeSet::MessageRow& row : set.messages()) {
        const MessageContentPtr& content = row.message.content;
        if (content != nullptr && is_long(*content)) {
            ++uses_[content.get()];
        }
    }
}

// At the end: a message that moves leaves one entity before it is in the other one.
void ChangeWriter::erase_unused_contents() {
    for (const std::int64_t id : contents_.take_unused()) {
        tables_.contents.erase({.id = id});
    }
}

void ChangeWriter::apply(const QueueCreated& created) {
    const std::string options = to_text(created.options);
    const std::string rules = codec_.encode_rules(created.rules);
    tables_.queues.insert({.id = created.queue,
                           .dead_letters = created.dead_letters,
                           .name = created.name,
                           .kind = static_cast<std::int64_t>(created.kind),
                           .options = options,
                           .declared_rules = {rules},
                           .rules = {rules}});
    if (created.kind == EntityKind::topic) {
        topics_.insert(created.queue);
    }
    tables_.entities.insert({.id = created.queue});
    tables_.entities.insert({.id = created.dead_letters});
}

void ChangeWriter::apply(const QueueOptionsChanged& changed) {
    const std::string options = to_text(changed.options);
    tables_.queues.change({.id = changed.queue}, [&](QueueRow& row) { row.options = options; });
}

void ChangeWriter::apply(const RulesDeclared& declared) {
    const std::string rules = codec_.encode_rules(declared.rules);
    tables_.queues.change({.id = declared.queue}, [&](QueueRow& row) {
        row.declared_rules = {rules};
        row.rules = {rules};
    });
}

void ChangeWriter::apply(const RulesChanged& changed) {
    const std::string rules = codec_.encode_rules(changed.rules);
    tables_.queues.change({.id = changed.queue}, [&](QueueRow& row) { row.rules = {rules}; });
}

void ChangeWriter::apply(const QueueRemoved& removed) {
    tables_.queues.erase({.id = removed.queue});
    remove_entity(removed.queue);
    remove_entity(removed.dead_letters);
}

void ChangeWriter::remove_entity(EntityId entity) {
    topics_.erase(entity);
    tables_.messages.erase_where("entity = ?", entity);
    tables_.states.erase_where("entity = ?", entity);
    tables_.taken_ids.erase_where("entity = ?", entity);
    tables_.entities.erase({.id = entity});
}

/// All columns, except those that the change leaves as they are: the content if there is none, and
/// `passed_to`.
MessageRow ChangeWriter::row_of(const DurableMessage& message) {
    MessageRow row{.entity = message.entity,
                   .sequence = message.sequence,
                   .place = static_cast<std::int64_t>(message.place),
                   .delivery_count = message.delivery_count,
                   .enqueued = nanoseconds_of(message.enqueued_time)};
    if (message.time_to_live) {
        row.time_to_live = message.time_to_live->count();
    }
    if (message.dead_letter) {
        row.reason = message.dead_letter->reason;
        row.description = message.dead_letter->description;
    }
    origin_ =
        OriginText{.first_sequence = message.first_sequence,
                   .source = message.dead_letter ? std::string_view{message.dead_letter->source}
                                                 : std::string_view{}}
            .write();
    row.passed_to = origin_;
    if (message.content) {
        row.content = store_content(message);
    }
    return row;
}

ContentCell ChangeWriter::store_content(const DurableMessage& message) {
    const MessageContentPtr& content = message.content;
    const auto encode = [&] { return codec_.encode(*content, message.enqueued_time, scratch_); };
    std::int64_t id = contents_.id_of(*content);
    if (id == 0 && !is_shared(message)) {
        return {.bytes = encode()};
    }
    if (id == 0) {
        id = ++ledger_.last_content;
        tables_.contents.insert(
            {.id = id, .enqueued = nanoseconds_of(message.enqueued_time), .bytes = {encode()}});
        contents_.add(id, content);
    }
    contents_.use(id);
    return {.shared = id};
}

/// Whether other messages will use the content. That of a topic goes to subscriptions.
bool ChangeWriter::is_shared(const DurableMessage& message) const {
    const auto uses = uses_.find(message.content.get());
    return uses != uses_.end() && (uses->second > 1 || topics_.contains(message.entity));
}

void ChangeWriter::write(const ChangeSet::MessageRow& changed) {
    const DurableMessage& message = changed.message;
    const MessageRow key{.entity = message.entity, .sequence = message.sequence};
    switch (changed.action) {
    case ChangeSet::Action::nothing: break;
    case ChangeSet::Action::insert: tables_.messages.insert(row_of(message)); break;
    case ChangeSet::Action::update:
    case ChangeSet::Action::update_with_content:
        tables_.messages.change(key, [&](MessageRow& row) {
            const MessageRow former = row;
            row = row_of(message);
            row.passed_to = former.passed_to;
            if (!message.content) {
                row.content = former.content;
            } else {
                contents_.release(former.content.shared);
            }
        });
        break;
    case ChangeSet::Action::erase: tables_.messages.erase(key); break;
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
    tables_.messages.change({.entity = message.entity, .sequence = message.sequence},
                            [&](MessageRow& row) {
                                ids.insert(0, row.passed_to);
                                row.passed_to = ids;
                            });
}

} // namespace sessionq::broker
