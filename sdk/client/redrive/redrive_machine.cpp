// SPDX-License-Identifier: MIT
#include "client/redrive/redrive_machine.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "core/session_id.hpp"

namespace sessionq::detail::client {

void RedriveMachine::plan(Number number, const SessionId& session_id) {
    Session*& session =
        by_id_[session_id ? SessionId{core::fold_session_id(*session_id)} : std::nullopt];
    if (session == nullptr) {
        session = &sessions_.emplace_back(Session{.id = session_id});
    }
    session->letters.try_emplace(number);
    by_number_.emplace(number, session);
    ++report_.selected;
    ++report_.left;
}

RedriveMachine::Letter* RedriveMachine::find(Number number) {
    const auto session = by_number_.find(number);
    return session == by_number_.end() ? nullptr : &session->second->letters.at(number);
}

bool RedriveMachine::received(Number number, TimePoint now) {
    Letter* const letter = find(number);
    if (letter == nullptr) {
        received_none_ = !others_.insert(number).second && received_none_;
        return false;
    }
    if (letter->place == Place::broker) {
        if (letter->arrivals < most_arrivals) {
            ++letter->arrivals;
            last_progress_ = now;
            received_none_ = false;
        }
        letter->place = Place::hand;
        Session& session = *by_number_.at(number);
        if (++session.in_hand == session.letters.size()) {
            ready_.push_back(&session);
        }
    }
    return true;
}

void RedriveMachine::received_nothing() { received_none_ = true; }

void RedriveMachine::lost(Number number) {
    Letter* const letter = find(number);
    if (letter != nullptr && letter->place == Place::hand) {
        letter->place = Place::broker;
        --by_number_.at(number)->in_hand;
    }
}

bool RedriveMachine::gives_up(TimePoint now) const noexcept {
    return received_none_ && now - last_progress_ >= max_wait_;
}

/// Returns a session whose dead letters are all in hand. After giving up, also returns a session
/// with only some letters in hand. The other letters of that session stay. Null if there is no such
/// session.
RedriveMachine::Session* RedriveMachine::choose(TimePoint now) {
    while (!busy_.empty() && busy_.front()->ask_again <= now) {
        ready_.push_back(busy_.front());
        busy_.pop_front();
    }
    if (!ready_.empty()) {
        Session* const session = ready_.front();
        ready_.pop_front();
        return session;
    }
    while (gives_up(now) && last_try_ < sessions_.size()) {
        Session& session = sessions_[last_try_++];
        if (session.in_hand != 0 && std::ranges::find(busy_, &session) == busy_.end()) {
            return &session;
        }
    }
    return nullptr;
}

void RedriveMachine::enter(Session& session) {
    current_ = &session;
    is_held_ = false;
    const bool holds = holds_sessions_ && session.id;
    stage_ = holds ? Stage::hold : Stage::look;
}

RedriveMachine::Step RedriveMachine::next(TimePoint now) {
    if (current_ == nullptr) {
        if (Session* const chosen = choose(now)) {
            enter(*chosen);
        } else if (by_number_.empty() || gives_up(now)) {
            report_.busy_sessions = busy_.size();
            return Finish{};
        } else {
            TimePoint until = Deadline::after(max_wait_, last_progress_).time();
            if (!busy_.empty()) {
                until = std::min(until, busy_.front()->ask_again);
            }
            return Receive{std::max(until - now, Duration::zero())};
        }
    }
    return next_of(*current_);
}

RedriveMachine::Step RedriveMachine::next_of(Session& session) {
    if (stage_ == Stage::hold) {
        return Hold{*session.id};
    }
    if (stage_ == Stage::look && !session.is_looked_through) {
        return Look{is_held_ ? session.id : std::nullopt};
    }
    if (stage_ == Stage::leave) {
        return Leave{};
    }
    Numbers to_send;
    Numbers to_complete;
    for (const auto& [number, letter] : session.letters) {
        if (letter.copy != Copy::none) {
            if (letter.place == Place::hand) {
                to_complete.push_back(number);
            }
        } else if (letter.place == Place::hand && to_send.size() < most_at_once) {
            to_send.push_back(number);
        } else {
            break; // the later ones wait for this one
        }
    }
    if (!to_complete.empty()) {
        return Complete{std::move(to_complete)};
    }
    if (!to_send.empty()) {
        return Send{std::move(to_send)};
    }
    stage_ = Stage::leave;
    return Leave{};
}

void RedriveMachine::held() {
    is_held_ = true;
    stage_ = Stage::look;
}

void RedriveMachine::busy(TimePoint now) {
    Session& session = *std::exchange(current_, nullptr);
    session.ask_again = now + ask_busy_again;
    busy_.push_back(&session);
}

void RedriveMachine::cannot_hold() {
    holds_sessions_ = false;
    stage_ = Stage::look;
}

void RedriveMachine::hold_lost() {
    if (current_ != nullptr && stage_ != Stage::leave) {
        enter(*current_);
    }
}

void RedriveMachine::found_copy(Number number) {
    Letter* const letter = find(number);
    if (letter != nullptr && letter->copy == Copy::none) {
        letter->copy = Copy::sent_before;
    }
}

void RedriveMachine::looked() {
    current_->is_looked_through = true;
    if (!is_held_) { // searched everywhere; nobody else can send letters in hand
        for (Session* const session : ready_) {
            session->is_looked_through = true;
        }
    }
    stage_ = Stage::send;
}

void RedriveMachine::sent(Number number) { find(number)->copy = Copy::sent; }

void RedriveMachine::completed(Number number, TimePoint now) {
    Session& session = *by_number_.at(number);
    const Copy copy = session.letters.at(number).copy;
    ++(copy == Copy::sent ? report_.sent : report_.already_sent);
    --report_.left;
    --session.in_hand;
    session.letters.erase(number);
    by_number_.erase(number);
    last_progress_ = now;
}

void RedriveMachine::left() {
    const Session& session = *std::exchange(current_, nullptr);
    if (session.letters.empty()) {
        ++report_.sessions;
    }
}

} // namespace sessionq::detail::client
