#include "simulation/broker_ledger.hpp"

#include <algorithm>

namespace sessionq::simulation {

void BrokerLedger::append(std::vector<broker::Change> changes) {
    uncommitted_.push_back({.mark = ++mark_});
    for (const broker::Change& change : changes) {
        if (const auto* made = std::get_if<broker::QueueCreated>(&change)) {
            queues_[made->queue] = made->name;
        } else if (const auto* one = std::get_if<broker::MessageAdded>(&change)) {
            added(one->message);
        } else if (const auto* gone = std::get_if<broker::MessageRemoved>(&change)) {
            removed(*gone, changes);
        } else if (const auto* state = std::get_if<broker::SessionStateSet>(&change)) {
            state_set(*state);
        } else if (const auto* other = std::get_if<broker::MessageChanged>(&change)) {
            const auto queue = queues_.find(other->message.entity);
            MessageRecord* message = queue != queues_.end() ? find(queue->second, other->message.sequence) : nullptr;
            if (message != nullptr && other->message.place == sessionq::MessageState::deferred && !message->done()) {
                environment_->broker.finish(*message, MessageState::deferred);
            }
        }
    }
}

void BrokerLedger::added(const broker::KeptMessage& message) {
    const auto queue = queues_.find(message.entity);
    if (queue == queues_.end()) {
        return; // a dead letter
    }
    const std::string session{message.content->session_id().value_or("")};
    MessageRecord& record = environment_->broker.add(queue->second, session, message.sequence, environment_->scheduler.now());
    messages_[{queue->second, message.sequence}] = &record;
    const std::string id{message.content->message_id()};
    ids_[{queue->second, message.sequence}] = id;
    if (const auto sent = environment_->sent.find(id); sent != environment_->sent.end()) {
        ++sent->second.taken;
        sent->second.copies.push_back({.sequence = message.sequence});
        uncommitted_.back().copies.emplace_back(&sent->second, message.sequence);
        environment_->tell(&Oracle::message_taken, sent->second);
    }
    environment_->scheduler.trace("broker: ", session, " #", message.sequence);
}

void BrokerLedger::removed(const broker::MessageRemoved& change, const std::vector<broker::Change>& all) {
    const auto queue = queues_.find(change.entity);
    MessageRecord* message = queue != queues_.end() ? find(queue->second, change.sequence) : nullptr;
    if (message == nullptr || message->done()) {
        return;
    }
    const std::string& id = ids_[{queue->second, change.sequence}];
    const bool is_dead_letter = std::ranges::any_of(all, [&](const broker::Change& other) {
        const auto* one = std::get_if<broker::MessageAdded>(&other);
        return one != nullptr && !queues_.contains(one->message.entity) && one->message.content->message_id() == id;
    });
    const MessageState state = is_dead_letter ? MessageState::dead_lettered : removes_ ? MessageState::removed : MessageState::completed;
    environment_->scheduler.trace("broker: ", message->session, " #", message->sequence, " is gone");
    environment_->broker.finish(*message, state);
}

void BrokerLedger::state_set(const broker::SessionStateSet& change) {
    const std::string& entity = queues_.at(change.entity);
    std::vector<StateValue>& values = environment_->states_of(entity, change.session_id);
    values.push_back({.value = change.state});
    uncommitted_.back().states.emplace_back(&values, values.size() - 1);
    environment_->scheduler.trace("broker: state of ", change.session_id, " '", change.state.value_or(""), "'");
    const auto& asks = environment_->state_asks;
    const auto write = std::ranges::find_if(asks, [&](const StateRecord& each) { return change.state && each.writes && each.value == change.state; });
    if (write != asks.end()) {
        environment_->tell(&Oracle::state_taken, *write);
    }
}

void BrokerLedger::when_durable(Durable done) {
    environment_->scheduler.after(environment_->scheduler.between(milliseconds{0}, commit_high),
                                  [weak = weak_from_this(), mark = mark_, done = std::move(done)] {
                                      if (const auto self = weak.lock()) {
                                          self->commit(mark);
                                          done(mark, nullptr);
                                      }
                                  });
}

void BrokerLedger::commit(Mark mark) {
    while (!uncommitted_.empty() && uncommitted_.front().mark <= mark) {
        for (const auto& [sent, sequence] : uncommitted_.front().copies) {
            std::ranges::find(sent->copies, sequence, &SentRecord::Copy::sequence)->is_kept = true;
        }
        for (const auto& [values, index] : uncommitted_.front().states) {
            (*values)[index].is_kept = true;
        }
        uncommitted_.pop_front();
    }
}

MessageRecord* BrokerLedger::find(const std::string& entity, std::int64_t sequence) {
    const auto found = messages_.find({entity, sequence});
    return found != messages_.end() ? found->second : nullptr;
}

void BrokerLedger::granted(LinkRecord& link, BrokerSession& session) {
    const TimePoint now = environment_->scheduler.now();
    if (session.holder != 0) {
        const LinkRecord& before = environment_->links[session.holder - 1];
        if (now < before.locked_until && !locks_end_unheard) {
            link.overtaken = link.asked < before.accepted;
            return; // else it is held twice, which is for the oracles to say
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
    for (const LinkRecord& link : environment_->links) {
        if (BrokerSession* session = link.wire == wire ? environment_->broker.held_by(link.id) : nullptr) {
            let_go(link, *session);
        }
    }
}

/// What the broker took back may come again before its holder knows.
void BrokerLedger::let_go(const LinkRecord& link, BrokerSession& session) {
    for (DeliveryRecord* delivery : link.deliveries) {
        if (!delivery->answered) {
            delivery->message->excused = true;
        }
    }
    environment_->broker.unlock(session, environment_->scheduler.now());
}

} // namespace sessionq::simulation
