// SPDX-License-Identifier: MIT
#include "simulation/broker_ledger.hpp"

#include <algorithm>
#include <iterator>

#include "client/redrive/redrive_mark.hpp"
#include "core/ascii_case.hpp"
#include "ports/state_envelope.hpp"

namespace sessionq::simulation {

void BrokerLedger::append(std::vector<broker::Change> changes) {
    if (is_dead_) {
        return; // a killed broker does not do what an orderly shutdown does
    }
    uncommitted_.push_back({.mark = ++mark_});
    for (const broker::Change& change : changes) {
        note(change, changes);
    }
    if (store_) {
        uncommitted_.back().changes = std::move(changes);
        environment_->scheduler.after(environment_->scheduler.between(milliseconds{0}, commit_high),
                                      [weak = weak_from_this(), mark = mark_, life = life_] {
                                          if (const auto self = weak.lock();
                                              self && self->life_ == life) {
                                              self->commit(mark);
                                          }
                                      });
    }
}

void BrokerLedger::note(const broker::Change& change, const std::vector<broker::Change>& all) {
    if (const auto* made = std::get_if<broker::QueueCreated>(&change)) {
        queues_[made->queue] = made->name;
        dead_letters_[made->dead_letters] = made->name;
    } else if (const auto* one = std::get_if<broker::MessageAdded>(&change)) {
        added(one->message, all);
    } else if (const auto* gone = std::get_if<broker::MessageRemoved>(&change)) {
        removed(*gone, all);
    } else if (const auto* state = std::get_if<broker::SessionStateSet>(&change)) {
        state_set(*state);
    } else if (const auto* other = std::get_if<broker::MessageChanged>(&change)) {
        changed(other->message);
    }
}

namespace {

/// The message with this number, which must exist.
ScheduledRecord::Copy& copy_of(ScheduledRecord& record, std::int64_t sequence) {
    return *std::ranges::find(record.copies, sequence, &ScheduledRecord::Copy::sequence);
}

} // namespace

void BrokerLedger::scheduled(const std::string& entity, const broker::DurableMessage& message) {
    const auto found = environment_->scheduled.find(message.content->message_id());
    if (found == environment_->scheduled.end()) {
        return;
    }
    ScheduledRecord& record = found->second;
    environment_->scheduler.trace("broker: '", record.id, "' is scheduled as #", message.sequence);
    scheduled_[{entity, message.sequence}] = &record;
    ++record.taken;
    record.copies.push_back({.sequence = message.sequence});
    uncommitted_.back().schedules.emplace_back(&record, message.sequence);
    uncommitted_.back().undo.emplace_back(
        [this, &record, key = std::pair{entity, message.sequence}] {
            scheduled_.erase(key);
            std::erase_if(record.copies, [&](const ScheduledRecord::Copy& copy) {
                return copy.sequence == key.second;
            });
        });
    environment_->tell(&Oracle::schedule_taken, record);
}

/// Records a message that is available.
void BrokerLedger::due(const std::string& entity, ScheduledRecord& record,
                       const std::vector<broker::Change>& all, std::int64_t sequence) {
    for (const broker::Change& change : all) {
        const auto* gone = std::get_if<broker::MessageRemoved>(&change);
        const auto found =
            gone != nullptr ? scheduled_.find({entity, gone->sequence}) : scheduled_.end();
        if (found != scheduled_.end() && found->second == &record) {
            environment_->tell(&Oracle::schedule_due, record, copy_of(record, gone->sequence));
            return;
        }
    }
    ++record.taken;
    record.copies.push_back({.sequence = sequence, .is_over = true});
    uncommitted_.back().schedules.emplace_back(&record, sequence);
    uncommitted_.back().undo.emplace_back([&record, sequence] {
        std::erase_if(record.copies,
                      [&](const ScheduledRecord::Copy& copy) { return copy.sequence == sequence; });
    });
    environment_->tell(&Oracle::schedule_taken, record);
    environment_->tell(&Oracle::schedule_due, record, record.copies.back());
}

void BrokerLedger::unscheduled(const std::string& entity, std::int64_t sequence) {
    const auto found = scheduled_.find({entity, sequence});
    if (found == scheduled_.end() || copy_of(*found->second, sequence).is_over) {
        return;
    }
    environment_->scheduler.trace("broker: '", found->second->id, "' is scheduled no more");
    copy_of(*found->second, sequence).is_over = true;
    uncommitted_.back().undo.emplace_back(
        [record = found->second, sequence] { copy_of(*record, sequence).is_over = false; });
}

void BrokerLedger::added(const broker::DurableMessage& message,
                         const std::vector<broker::Change>& all) {
    if (const auto of = dead_letters_.find(message.entity); of != dead_letters_.end()) {
        environment_->letters[{of->second, message.sequence}] = {
            .entity = of->second,
            .session = std::string{message.content->session_id().value_or("")},
            .number = message.sequence};
        environment_->scheduler.trace("broker: dead letter ", message.sequence);
    }
    const auto queue = queues_.find(message.entity);
    if (queue == queues_.end()) {
        return;
    }
    if (message.place == sessionq::MessageState::scheduled) {
        scheduled(queue->second, message);
        return;
    }
    if (const auto one = environment_->scheduled.find(message.content->message_id());
        one != environment_->scheduled.end()) {
        due(queue->second, one->second, all, message.sequence);
    }
    const std::string session{message.content->session_id().value_or("")};
    const std::string id{message.content->message_id()};
    const std::pair key{queue->second, message.sequence};
    if (const auto before = messages_.find(key); before != messages_.end()) {
        replaced_[{key.first, key.second, ids_[key]}] = before->second;
    }
    MessageRecord& record = environment_->broker.add(queue->second, session, message.sequence,
                                                     environment_->scheduler.now());
    messages_[key] = &record;
    ids_[key] = id;
    environment_->scheduler.trace("broker: ", session, " #", message.sequence);
    copy_added(queue->second, *message.content, record);
    const auto found = environment_->sent.find(id);
    SentRecord* sent = found != environment_->sent.end() ? &found->second : nullptr;
    if (sent != nullptr) {
        ++sent->taken;
        sent->copies.push_back({.sequence = message.sequence});
        uncommitted_.back().copies.emplace_back(sent, message.sequence);
        environment_->tell(&Oracle::message_taken, *sent);
    }
    uncommitted_.back().undo.emplace_back([this, &record, sent] {
        environment_->scheduler.trace("broker: ", record.session, " #", record.sequence,
                                      " never was");
        environment_->broker.finish(record, MessageState::vanished);
        if (sent != nullptr) {
            std::erase_if(sent->copies, [&](const SentRecord::Copy& copy) {
                return copy.sequence == record.sequence;
            });
            environment_->tell(&Oracle::message_vanished, *sent);
        }
    });
}

void BrokerLedger::copy_added(const std::string& entity, const MessageContent& content,
                              const MessageRecord& record) {
    const auto number =
        detail::client::redriven_from(content, core::lower_case(entity + "/$DeadLetterQueue"));
    if (!number) {
        return;
    }
    LetterRecord& letter = environment_->letters.at({entity, *number});
    environment_->scheduler.trace("broker: it is the copy of dead letter ", *number);
    environment_->tell(&Oracle::copy_taken, letter);
    letter.copy = &record;
}

void BrokerLedger::changed(const broker::DurableMessage& message) {
    const auto queue = queues_.find(message.entity);
    MessageRecord* record =
        queue != queues_.end() ? find(queue->second, message.sequence) : nullptr;
    if (record == nullptr) {
        return;
    }
    uncommitted_.back().undo.emplace_back(
        [record, before = record->delivery_count] { record->delivery_count = before; });
    record->delivery_count = message.delivery_count;
    if (message.place == sessionq::MessageState::deferred && !record->done()) {
        finish(*record, MessageState::deferred);
    }
}

void BrokerLedger::removed(const broker::MessageRemoved& change,
                           const std::vector<broker::Change>& all) {
    if (const auto of = dead_letters_.find(change.entity); of != dead_letters_.end()) {
        LetterRecord& letter = environment_->letters.at({of->second, change.sequence});
        environment_->scheduler.trace("broker: dead letter ", change.sequence, " is gone");
        letter.is_removed = true;
        environment_->tell(&Oracle::letter_gone, letter);
    }
    const auto queue = queues_.find(change.entity);
    MessageRecord* message =
        queue != queues_.end() ? find(queue->second, change.sequence) : nullptr;
    if (queue != queues_.end()) {
        unscheduled(queue->second, change.sequence);
    }
    if (message != nullptr && message->state == MessageState::deferred &&
        !std::exchange(message->deferred_gone, true)) {
        uncommitted_.back().undo.emplace_back([message] { message->deferred_gone = false; });
        environment_->tell(&Oracle::deferred_gone, *message);
    }
    if (message == nullptr || message->done()) {
        return;
    }
    const std::string& id = ids_[{queue->second, change.sequence}];
    const bool is_dead_letter = std::ranges::any_of(all, [&](const broker::Change& other) {
        const auto* one = std::get_if<broker::MessageAdded>(&other);
        return one != nullptr && !queues_.contains(one->message.entity) &&
               one->message.content->message_id() == id;
    });
    environment_->scheduler.trace("broker: ", message->session, " #", message->sequence,
                                  " is gone");
    finish(*message, is_dead_letter ? MessageState::dead_lettered
                     : removes_     ? MessageState::removed
                                    : MessageState::completed);
}

void BrokerLedger::finish(MessageRecord& message, MessageState state) {
    environment_->broker.finish(message, state);
    uncommitted_.back().undo.emplace_back([this, &message] {
        environment_->scheduler.trace("broker: ", message.session, " #", message.sequence,
                                      " is back");
        environment_->broker.take_back(message, environment_->scheduler.now());
    });
}

void BrokerLedger::state_set(const broker::SessionStateSet& change) {
    const std::string& entity = queues_.at(change.entity);
    std::vector<StateValue>& values = environment_->states_of(entity, change.session_id);
    // What processors keep beside it is none of the application's.
    const auto state = ports::StateEnvelope::open(change.state).application;
    const bool is_new = state != values.back().value;
    uncommitted_.back().undo.emplace_back(
        [&values, before = values.back().value] { values.push_back({.value = before}); });
    values.push_back({.value = state});
    uncommitted_.back().states.emplace_back(&values, values.size() - 1);
    environment_->scheduler.trace("broker: state of ", change.session_id, " '", state.value_or(""),
                                  "'");
    const auto& asks = environment_->state_asks;
    const auto write = std::ranges::find_if(asks, [&](const StateRecord& each) {
        return each.writes && each.value == state && each.link->session == change.session_id &&
               each.link->entity == entity;
    });
    if (is_new && write == asks.end()) {
        environment_->verdict.report("(k) session state",
                                     "the state of " + change.session_id + " becomes '" +
                                         state.value_or("(none)") + "', and nobody wrote that");
    } else if (is_new && state) {
        environment_->tell(&Oracle::state_taken, *write);
    }
}

void BrokerLedger::when_durable(Durable done) {
    const Duration takes = confirms_at_once
                               ? Duration::zero()
                               : environment_->scheduler.between(milliseconds{0}, commit_high);
    environment_->scheduler.after(
        takes, [weak = weak_from_this(), mark = mark_, life = life_, done = std::move(done)] {
            const auto self = weak.lock();
            if (!self || self->life_ != life) {
                return;
            }
            if (!self->confirms_at_once) {
                self->commit(mark);
            }
            done(mark, nullptr);
        });
}

void BrokerLedger::commit(Mark mark) {
    std::vector<broker::Change> changes;
    for (; !uncommitted_.empty() && uncommitted_.front().mark <= mark; uncommitted_.pop_front()) {
        Uncommitted& first = uncommitted_.front();
        for (const auto& [sent, sequence] : first.copies) {
            std::ranges::find(sent->copies, sequence, &SentRecord::Copy::sequence)->is_kept = true;
        }
        for (const auto& [record, sequence] : first.schedules) {
            copy_of(*record, sequence).is_kept = true;
        }
        for (const auto& [values, index] : first.states) {
            (*values)[index].is_kept = true;
        }
        std::ranges::move(first.changes, std::back_inserter(changes));
    }
    if (store_) {
        store_->commit(std::move(changes));
    }
}

void BrokerLedger::kill() {
    is_dead_ = true;
    ++life_;
    for (; !uncommitted_.empty(); uncommitted_.pop_back()) {
        for (auto undo = uncommitted_.back().undo.rbegin(); undo != uncommitted_.back().undo.rend();
             ++undo) {
            (*undo)();
        }
    }
}

std::vector<broker::DurableQueue> BrokerLedger::revive() {
    is_dead_ = false;
    std::vector<broker::DurableQueue> kept = store_->read();
    for (const broker::DurableQueue& queue : kept) {
        check(queue);
    }
    return kept;
}

/// Checks that the store has what was committed, no more and no less.
void BrokerLedger::check(const broker::DurableQueue& kept) {
    const auto report = [&](const std::string& what) {
        environment_->verdict.report("(m) store", kept.name + ": " + what);
    };
    std::map<std::int64_t, const broker::DurableMessage*> there;
    for (const broker::DurableMessage& message : kept.queue.messages) {
        there.emplace(message.sequence, &message);
    }
    for (const MessageRecord& message : environment_->broker.messages()) {
        const bool belongs =
            !message.done() || (message.state == MessageState::deferred && !message.deferred_gone);
        if (message.entity != kept.name || message.state == MessageState::vanished) {
            continue;
        }
        const auto found = there.find(message.sequence);
        const std::string name = message.session + " #" + std::to_string(message.sequence);
        if (belongs != (found != there.end())) {
            report(name +
                   (belongs ? " was kept, and is not there" : " is there, and was done with"));
        } else if (belongs && found->second->delivery_count != message.delivery_count) {
            report(name + " was given back " + std::to_string(message.delivery_count) +
                   " times, and has been " + std::to_string(found->second->delivery_count) +
                   " times");
        } else if (belongs && (found->second->place == sessionq::MessageState::deferred) !=
                                  (message.state == MessageState::deferred)) {
            report(name + " is not where it was");
        }
    }
    for (const auto& [key, record] : scheduled_) {
        const auto found = there.find(key.second);
        const bool waits =
            found != there.end() && found->second->place == sessionq::MessageState::scheduled;
        if (key.first == kept.name && waits == copy_of(*record, key.second).is_over) {
            report("'" + record->id + "' " +
                   (waits ? "waits for its time, and did no more"
                          : "waited for its time, and does no more"));
        }
    }
    std::map<std::string, std::optional<std::string>> states;
    for (const broker::SessionStateSet& each : kept.queue.states) {
        states[each.session_id] = each.state;
    }
    for (const auto& [key, session] : environment_->broker.sessions()) {
        const auto found = states.find(session.id);
        const auto state =
            ports::StateEnvelope::open(found != states.end() ? found->second : std::nullopt)
                .application;
        const auto was = environment_->states_of(session.entity, session.id).back().value;
        if (session.entity == kept.name && state != was) {
            report("the state of " + session.id + " was '" + was.value_or("(none)") +
                   "', and is '" + state.value_or("(none)") + "'");
        }
    }
}

MessageRecord* BrokerLedger::find(const std::string& entity, std::int64_t sequence) {
    const auto found = messages_.find({entity, sequence});
    return found != messages_.end() ? found->second : nullptr;
}

MessageRecord* BrokerLedger::find(const std::string& entity, std::int64_t sequence,
                                  std::string_view id) {
    const auto now = ids_.find({entity, sequence});
    if (now != ids_.end() && now->second == id) {
        return find(entity, sequence);
    }
    const auto before = replaced_.find({entity, sequence, std::string{id}});
    return before != replaced_.end() ? before->second : nullptr;
}

void BrokerLedger::granted(LinkRecord& link, BrokerSession& session) {
    if (clients_learn_late && wires_over_.contains(link.wire)) {
        link.overtaken = true; // the broker released it before the answer arrived
        return;
    }
    const TimePoint now = environment_->scheduler.now();
    if (session.holder != 0) {
        const LinkRecord& before = environment_->links[session.holder - 1];
        if (now < before.locked_until && !locks_end_unheard) {
            link.overtaken = link.asked < before.accepted;
            return; // it is held twice, and an oracle reports that
        }
        let_go(before, session);
    }
    environment_->broker.lock(session, link.id, link.locked_until);
}

void BrokerLedger::ended(const LinkRecord& link) {
    if (BrokerSession* session = environment_->broker.held_by(link.id)) {
        environment_->broker.unlock(*session, environment_->scheduler.now());
    }
}

void BrokerLedger::wire_over(std::uint32_t wire) {
    wires_over_.insert(wire);
    for (const LinkRecord& link : environment_->links) {
        if (BrokerSession* session =
                link.wire == wire ? environment_->broker.held_by(link.id) : nullptr) {
            let_go(link, *session);
        }
    }
}

/// What the broker took back may be delivered again before its holder knows.
void BrokerLedger::let_go(const LinkRecord& link, BrokerSession& session) {
    for (DeliveryRecord* delivery : link.deliveries) {
        // A killed holder that had not handled it does not settle it any more.
        const bool may_be_handled = !link.killed || delivery->message->handled != 0;
        if (!delivery->answered && may_be_handled) {
            delivery->message->excused = true;
        }
    }
    environment_->broker.unlock(session, environment_->scheduler.now());
}

} // namespace sessionq::simulation
