// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <sessionq/message.hpp>
#include <sessionq/time.hpp>

namespace sessionq::faults {

/// The campaign's entities: queues with sessions, a queue that forwards to a topic, and a queue
/// that gets the forwarded messages of a subscription. One queue's dead letters are forwarded too.
namespace entity {
inline constexpr const char* work = "work";
inline constexpr const char* inbox = "inbox";                ///< forwards to `news`
inline constexpr const char* news = "news";                  ///< a topic
inline constexpr const char* red = "news/Subscriptions/red"; ///< receives red messages
inline constexpr const char* all = "news/Subscriptions/all";
inline constexpr const char* onward = "news/Subscriptions/onward"; ///< forwards to `archive`
inline constexpr const char* archive = "archive"; ///< forwards its dead letters to `graveyard`
inline constexpr const char* graveyard = "graveyard";

inline constexpr const char* received_from[] = {work, red, all, archive, graveyard};
inline constexpr const char* sent_to[] = {work, inbox, news};
} // namespace entity

[[nodiscard]] std::string dead_letters_of(const std::string& entity);

/// The number of deliveries before a message is dead-lettered, in every entity.
inline constexpr std::uint32_t most_deliveries = 3;

/// Returns the JSON configuration with these entities.
[[nodiscard]] std::string world_configuration();

/// A model of one session in all entities: its messages, by entity and text, and its states. Pure.
/// It repeats the broker's semantics as briefly as possible.
struct World {
    struct Copy {
        MessageState place{MessageState::active};
        std::uint32_t count{0}; ///< counted deliveries
        bool is_red{false};
        std::int64_t sequence{0}; ///< zero: unknown
        WallTime due{};           ///< of a scheduled message
        std::string reason{};     ///< of a dead letter, also of a forwarded one
    };
    using Key = std::pair<std::string, std::string>; ///< entity and text

    std::map<Key, Copy> copies{};
    std::map<std::string, std::string> states{};

    void send(const std::string& to, const std::string& text, bool is_red);
    void schedule(const std::string& to, const std::string& text, bool is_red, WallTime due,
                  std::int64_t sequence = 0);
    /// Also for a cancelled or completed message.
    void remove(const Key& key) { copies.erase(key); }
    void abandon(const Key& key);
    void defer(const Key& key) { copies.at(key).place = MessageState::deferred; }
    void dead_letter(const Key& key, const std::string& reason);
    void set_state(const std::string& entity, const std::optional<std::string>& state);
    /// Makes messages available that are due by then.
    void pass(WallTime until);

private:
    void arrive(const std::string& at, const std::string& text, bool is_red);
};

/// What a check of all entities found, one entity after another.
struct Observation {
    struct Seen {
        std::string entity{};
        std::string text{};
        MessageState place{MessageState::active};
        std::uint32_t count{0};
        std::int64_t sequence{0};
        std::string reason{};
    };
    WallTime began{};
    WallTime ended{};
    std::vector<Seen> messages{};
    std::map<std::string, std::string> states{};
};

/// Returns how the observation differs from the expected state, in words, or nothing. Messages in
/// `may_be_gone` may be absent.
[[nodiscard]] std::optional<std::string> find_difference(
    World expected, const Observation& observed, const std::set<World::Key>& may_be_gone = {});

/// Returns an error that time cannot repair: a message that exists twice, or arrived before its
/// time. A message seen first as scheduled and then, with a new sequence number, as active exists
/// once: it became due between.
[[nodiscard]] std::optional<std::string> find_impossible(const World& expected,
                                                         const Observation& observed);

} // namespace sessionq::faults
