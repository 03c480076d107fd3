// SPDX-License-Identifier: MIT
#include "simulation/sim_broker.hpp"

#include <algorithm>

#include "core/session_id.hpp"

namespace sessionq::simulation {
namespace {

MessageRecord* first_available(const BrokerSession& session) {
    for (const auto& [sequence, message] : session.pending) {
        if (message->state == MessageState::available) {
            return message;
        }
    }
    return nullptr;
}

} // namespace

void SimBroker::note_ready(BrokerSession& session, TimePoint now) {
    if (session.holder != 0 || session.foreign || first_available(session) == nullptr) {
        session.ready_since.reset();
    } else if (!session.ready_since) {
        session.ready_since = now;
    }
}

MessageRecord& SimBroker::add(const std::string& entity, const std::string& session_id,
                              std::int64_t sequence, TimePoint now) {
    BrokerSession& session = obtain(entity, session_id);
    MessageRecord& message = messages_.emplace_back();
    message.sequence = sequence;
    message.entity = entity;
    message.session = session_id;
    session.pending.emplace(message.sequence, &message);
    ++unfinished_;
    note_ready(session, now);
    return message;
}

BrokerSession& SimBroker::obtain(const std::string& entity, const std::string& session_id) {
    const auto [at, is_new] = sessions_.try_emplace({entity, core::fold_session_id(session_id)});
    if (is_new) {
        at->second.entity = entity;
        at->second.id = session_id;
    }
    return at->second;
}

BrokerSession* SimBroker::find(const std::string& entity, const std::string& session) {
    const auto found = sessions_.find({entity, core::fold_session_id(session)});
    return found == sessions_.end() ? nullptr : &found->second;
}

std::vector<BrokerSession*> SimBroker::ready(const std::string& entity) {
    std::vector<BrokerSession*> found;
    for (auto& [key, session] : sessions_) {
        if (session.entity == entity && session.holder == 0 && !session.foreign &&
            first_available(session) != nullptr) {
            found.push_back(&session);
        }
    }
    return found;
}

void SimBroker::lock(BrokerSession& session, std::uint32_t link, TimePoint until) {
    session.holder = link;
    session.locked_until = until;
    session.ready_since.reset();
}

void SimBroker::unlock(BrokerSession& session, TimePoint now) {
    for (auto& [sequence, message] : session.pending) {
        message->state = MessageState::available;
        message->holder = 0;
    }
    session.holder = 0;
    note_ready(session, now);
}

BrokerSession* SimBroker::held_by(std::uint32_t link) {
    for (auto& [key, session] : sessions_) {
        if (session.holder == link) {
            return &session;
        }
    }
    return nullptr;
}

MessageRecord* SimBroker::take(BrokerSession& session, bool remove) {
    MessageRecord* message = first_available(session);
    if (message == nullptr) {
        return nullptr;
    }
    message->holder = session.holder;
    if (remove) {
        finish(*message, MessageState::removed);
    } else {
        message->state = MessageState::locked;
    }
    return message;
}

bool SimBroker::settle(std::uint32_t link, MessageRecord& message, ports::Outcome outcome) {
    BrokerSession* session = find(message.entity, message.session);
    if (session == nullptr || session->holder != link || message.holder != link ||
        message.state != MessageState::locked) {
        return false;
    }
    switch (outcome) {
    case ports::Outcome::complete: finish(message, MessageState::completed); break;
    case ports::Outcome::dead_letter: finish(message, MessageState::dead_lettered); break;
    case ports::Outcome::defer: finish(message, MessageState::deferred); break;
    case ports::Outcome::abandon:
        ++message.delivery_count;
        message.state = MessageState::available;
        break;
    case ports::Outcome::release: message.state = MessageState::available; break;
    }
    return true;
}

void SimBroker::take_back(MessageRecord& message, TimePoint now) {
    BrokerSession& session = *find(message.entity, message.session);
    message.state = MessageState::available;
    message.holder = 0;
    message.excused = true;
    session.pending.emplace(message.sequence, &message);
    ++unfinished_;
    note_ready(session, now);
}

void SimBroker::finish(MessageRecord& message, MessageState state) {
    message.state = state;
    find(message.entity, message.session)->pending.erase(message.sequence);
    --unfinished_;
}

} // namespace sessionq::simulation
