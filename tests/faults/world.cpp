// SPDX-License-Identifier: MIT
#include "faults/world.hpp"

namespace sessionq::faults {
namespace {

std::string_view name_of(MessageState place) noexcept {
    switch (place) {
    case MessageState::active: return "active";
    case MessageState::deferred: return "deferred";
    case MessageState::scheduled: return "scheduled";
    }
    return "?";
}

std::string words(const World::Key& key) { return "'" + key.second + "' in " + key.first; }

std::string words(MessageState place, std::uint32_t count, const std::string& reason) {
    return std::string{name_of(place)} + ", delivered " + std::to_string(count) +
           (reason.empty() ? "" : ", " + reason);
}

// A scheduled message that becomes due gets a new sequence number, so a browser shows it again.
bool came_meanwhile(const Observation::Seen& before, const Observation::Seen& after) {
    return before.place == MessageState::scheduled && after.place == MessageState::active &&
           after.sequence > before.sequence;
}

} // namespace

std::string dead_letters_of(const std::string& entity) { return entity + "/$DeadLetterQueue"; }

std::string world_configuration() {
    const std::string session =
        R"("RequiresSession": true, "LockDuration": "PT1M", "MaxDeliveryCount": )" +
        std::to_string(most_deliveries);
    return R"({"UserConfig": {"Namespaces": [{"Name": "sbemulatorns",
      "Queues": [
        {"Name": "work", "Properties": {)" +
           session + R"(}},
        {"Name": "inbox", "Properties": {"ForwardTo": "news"}},
        {"Name": "archive", "Properties": {"ForwardDeadLetteredMessagesTo": "graveyard", )" +
           session + R"(}},
        {"Name": "graveyard", "Properties": {)" +
           session + R"(}}],
      "Topics": [{"Name": "news", "Subscriptions": [
        {"Name": "red", "Properties": {)" +
           session + R"(}, "Rules": [
          {"Name": "red", "Properties": {"FilterType": "Sql",
           "SqlFilter": {"SqlExpression": "color = 'red'"}}}]},
        {"Name": "all", "Properties": {)" +
           session + R"(}},
        {"Name": "onward", "Properties": {"ForwardTo": "archive"}}]}]}]}})";
}

void World::arrive(const std::string& at, const std::string& text, bool is_red) {
    if (at == entity::inbox || at == entity::news) {
        for (const char* to : {entity::all, entity::archive}) {
            arrive(to, text, is_red);
        }
        if (is_red) {
            arrive(entity::red, text, is_red);
        }
        return;
    }
    copies.insert_or_assign({at, text}, Copy{.is_red = is_red});
}

void World::send(const std::string& to, const std::string& text, bool is_red) {
    arrive(to, text, is_red);
}

void World::schedule(const std::string& to, const std::string& text, bool is_red, WallTime due,
                     std::int64_t sequence) {
    copies.insert_or_assign(
        {to, text},
        Copy{.place = MessageState::scheduled, .is_red = is_red, .sequence = sequence, .due = due});
}

void World::abandon(const Key& key) {
    if (++copies.at(key).count >= most_deliveries) {
        dead_letter(key, "MaxDeliveryCountExceeded");
    }
}

void World::dead_letter(const Key& key, const std::string& reason) {
    Copy dead = copies.at(key);
    copies.erase(key);
    if (key.first == entity::archive) {
        arrive(entity::graveyard, key.second, dead.is_red);
        copies.at({entity::graveyard, key.second}).reason = reason; // is forwarded with it
        return;
    }
    dead.place = MessageState::active;
    dead.sequence = 0;
    dead.reason = reason;
    copies.insert_or_assign({dead_letters_of(key.first), key.second}, std::move(dead));
}

void World::set_state(const std::string& entity, const std::optional<std::string>& state) {
    if (state) {
        states.insert_or_assign(entity, *state);
    } else {
        states.erase(entity);
    }
}

void World::pass(WallTime until) {
    std::vector<std::pair<Key, Copy>> come;
    for (const auto& [key, copy] : copies) {
        if (copy.place == MessageState::scheduled && copy.due <= until) {
            come.emplace_back(key, copy);
        }
    }
    for (const auto& [key, copy] : come) {
        copies.erase(key);
        arrive(key.first, key.second, copy.is_red);
    }
}

std::optional<std::string> find_difference(World expected, const Observation& observed,
                                           const std::set<World::Key>& may_be_gone) {
    expected.pass(observed.began);
    std::map<World::Key, World::Copy> left = expected.copies;
    for (const Observation::Seen& seen : observed.messages) {
        const World::Key key{seen.entity, seen.text};
        const auto found = left.find(key);
        if (found == left.end()) {
            return words(key) + " exists (" + words(seen.place, seen.count, seen.reason) +
                   ") and must not";
        }
        const World::Copy& copy = found->second;
        if (seen.place != copy.place || seen.count != copy.count || seen.reason != copy.reason) {
            return words(key) + " is " + words(seen.place, seen.count, seen.reason) +
                   " and must be " + words(copy.place, copy.count, copy.reason);
        }
        left.erase(found);
    }
    for (const auto& [key, copy] : left) {
        if (!may_be_gone.contains(key)) {
            return words(key) + " is lost; it must be " +
                   words(copy.place, copy.count, copy.reason);
        }
    }
    for (const char* entity : entity::received_from) {
        const auto text = [entity](const std::map<std::string, std::string>& states) {
            const auto found = states.find(entity);
            return found == states.end() ? std::string{"none"} : "'" + found->second + "'";
        };
        if (text(observed.states) != text(expected.states)) {
            return std::string{"the state in "} + entity + " is " + text(observed.states) +
                   " and must be " + text(expected.states);
        }
    }
    return std::nullopt;
}

std::optional<std::string> find_impossible(const World& expected, const Observation& observed) {
    std::set<std::string> early;
    for (const auto& [key, copy] : expected.copies) {
        if (copy.place == MessageState::scheduled && copy.due > observed.ended) {
            early.insert(key.second);
        }
    }
    std::map<World::Key, Observation::Seen> seen;
    for (const Observation::Seen& one : observed.messages) {
        const auto [before, is_new] = seen.try_emplace({one.entity, one.text}, one);
        if (!is_new && !came_meanwhile(before->second, one)) {
            return words({one.entity, one.text}) + " exists twice";
        }
        if (one.place == MessageState::active && early.contains(one.text)) {
            return words({one.entity, one.text}) + " arrived before its time";
        }
    }
    return std::nullopt;
}

} // namespace sessionq::faults
