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

/// The entities of the campaign: queues with sessions, a queue that passes on to a topic, and a
/// queue that gets what one of the topic's subscriptions passes on. One queue's dead letters are
/// passed on too.
namespace entity {
inline constexpr const char* work = "work";
inline constexpr const char* inbox = "inbox";                ///< passes on to `news`
inline constexpr const char* news = "news";                  ///< a topic
inline constexpr const char* red = "news/Subscriptions/red"; ///< takes what is red
inline constexpr const char* all = "news/Subscriptions/all";
inline constexpr const char* onward = "news/Subscriptions/onward"; ///< passes on to `archive`
inline constexpr const char* archive = "archive"; ///< passes its dead letters on to `graveyard`
inline constexpr const char* graveyard = "graveyard";

inline constexpr const char* received_from[] = {work, red, all, archive, graveyard};
inline constexpr const char* sent_to[] = {work, inbox, news};
} // namespace entity

[[nodiscard]] std::string dead_letters_of(const std::string& entity);

/// How often a message is delivered before it is dead-lettered, in every entity.
inline constexpr std::uint32_t most_deliveries = 3;

/// The JSON configuration for it.
[[nodiscard]] std::string world_configuration();

/// What one session has in all entities: its messages, by entity and text, and its states. Pure:
/// what operations do to it is written down here for the second time, in as few words as can be.
struct World {
    struct Copy {
        MessageState place{MessageState::active};
        std::uint32_t count{0}; ///< of counted deliveries
        bool is_red{false};
        std::int64_t sequence{0}; ///< zero: not known
        WallTime due{};           ///< of a scheduled one
        std::string reason{};     ///< of a dead letter, also of one that was passed on
    };
    using Key = std::pair<std::string, std::string>; ///< entity and text

    std::map<Key, Copy> copies{};
    std::map<std::string, std::string> states{};

    void send(const std::string& to, const std::string& text, bool is_red);
    void schedule(const std::string& to, const std::string& text, bool is_red, WallTime due,
                  std::int64_t sequence = 0);
    /// Also a cancelled or a completed one.
    void remove(const Key& key) { copies.erase(key); }
    void abandon(const Key& key);
    void defer(const Key& key) { copies.at(key).place = MessageState::deferred; }
    void dead_letter(const Key& key, const std::string& reason);
    void set_state(const std::string& entity, const std::optional<std::string>& state);
    /// What is due by then has come.
    void pass(WallTime until);

private:
    void arrive(const std::string& at, const std::string& text, bool is_red);
};

/// What was found when all entities were looked at, one after the other.
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

/// How it differs from what must be, in words; nothing: it does not. Messages of `may_be_gone` may
/// be.
[[nodiscard]] std::optional<std::string> find_difference(
    World expected, const Observation& observed, const std::set<World::Key>& may_be_gone = {});

/// What must never be, however much time it is given to go away: a message that is there twice, or
/// before its time.
[[nodiscard]] std::optional<std::string> find_wonder(const World& expected,
                                                     const Observation& observed);

} // namespace sessionq::faults
