// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/entity_look.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "tools/sessionq/live/quantities.hpp"

namespace sessionq::cli {
namespace {

void count(MessageTally& tally, MessageState state) {
    switch (state) {
    case MessageState::active: ++tally.active; break;
    case MessageState::deferred: ++tally.deferred; break;
    case MessageState::scheduled: ++tally.scheduled; break;
    }
}

void raise(std::optional<double>& oldest, double age) {
    oldest = std::max(oldest.value_or(0), age);
}

} // namespace

EntityTally::EntityTally(std::string entity, WallTime now, const EntityLook* before, double seconds)
    : before_{before}, seconds_{seconds} {
    look_.entity = std::move(entity);
    look_.time = now;
    look_.messages = MessageTally{};
}

bool EntityTally::has_room() const noexcept {
    return look_.messages->total() < most_messages_of_look && bytes_ < most_bytes_of_look;
}

void EntityTally::add(const MessageGlance& message) {
    const DeliveryFacts& facts = message.facts;
    bytes_ += message.bytes;
    count(*look_.messages, facts.state);
    came_ += before_ != nullptr && facts.sequence_number > before_->last_sequence_number ? 1 : 0;
    look_.last_sequence_number = std::max(look_.last_sequence_number, facts.sequence_number);
    SessionLook* const found =
        message.session_id ? &session(std::string{*message.session_id}) : nullptr;
    if (found != nullptr) {
        count(found->messages, facts.state);
    }
    if (facts.state == MessageState::active) {
        const double age =
            std::max(std::chrono::duration<double>(look_.time - facts.enqueued_time).count(), 0.0);
        int exponent = 0;
        std::frexp(age, &exponent);
        ++look_.ages[std::max(exponent, 0)];
        raise(look_.oldest_age, age);
        if (found != nullptr) {
            raise(found->oldest_age, age);
        }
    }
}

void EntityTally::no_messages() { look_.messages.reset(); }

void EntityTally::cut_messages(const std::string& why) {
    look_.has_all_messages = false;
    note("only the first " + count_text(look_.messages->total()) + " messages: " + why);
}

void EntityTally::add_sessions(const std::vector<std::string>& ids) {
    look_.session_count = ids.size();
    for (const std::string& id : ids) {
        if (look_.sessions.size() >= most_sessions_of_look) {
            note("only " + count_text(look_.sessions.size()) + " of " + count_text(ids.size()) +
                 " sessions");
            return;
        }
        session(id);
    }
}

void EntityTally::add_states(const std::vector<std::string>& ids) {
    for (SessionLook& each : look_.sessions) {
        each.has_state = false;
    }
    for (const std::string& id : ids) {
        if (const auto place = places_.find(id); place != places_.end()) {
            look_.sessions[place->second].has_state = true;
        }
    }
}

void EntityTally::add_dead_letters(std::uint64_t count, bool is_all) {
    look_.dead_letters = count;
    look_.has_all_dead_letters = is_all;
    if (!is_all) {
        note("only the first " + count_text(count) + " dead letters");
    }
}

void EntityTally::note(const std::string& text) { look_.notes.push_back(text); }

EntityLook EntityTally::finish() {
    compare();
    return std::move(look_);
}

SessionLook& EntityTally::session(const std::string& id) {
    const auto [place, is_new] = places_.try_emplace(id, look_.sessions.size());
    if (is_new) {
        look_.sessions.push_back({.id = id});
    }
    return look_.sessions[place->second];
}

// A message that comes and goes between two looks is not seen.
void EntityTally::compare() {
    if (before_ == nullptr || seconds_ <= 0 || !look_.messages || !before_->messages ||
        !look_.has_all_messages || !before_->has_all_messages) {
        return;
    }
    const auto count_of = [](std::uint64_t count) { return static_cast<double>(count); };
    const double went =
        count_of(before_->messages->total()) + count_of(came_) - count_of(look_.messages->total());
    look_.came = count_of(came_) / seconds_;
    look_.went = std::max(went, 0.0) / seconds_;
    for (SessionLook& each : look_.sessions) {
        each.change = count_of(each.messages.total()) / seconds_;
    }
    for (const SessionLook& each : before_->sessions) {
        if (const auto place = places_.find(each.id); place != places_.end()) {
            look_.sessions[place->second].change -= count_of(each.messages.total()) / seconds_;
        }
    }
}

} // namespace sessionq::cli
