// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sessionq/message.hpp>
#include <sessionq/time.hpp>

#include "core/session_id.hpp"

namespace sessionq::cli {

/// How much of an entity a look reads at most, so that it costs the broker little.
inline constexpr std::size_t most_messages_of_look = 10'000;
inline constexpr std::size_t most_bytes_of_look = std::size_t{64} << 20U;
inline constexpr std::size_t most_sessions_of_look = 10'000; ///< That are shown.

/// Messages by their state.
struct MessageTally {
    std::uint64_t active{0};
    std::uint64_t deferred{0};
    std::uint64_t scheduled{0};

    [[nodiscard]] std::uint64_t total() const noexcept { return active + deferred + scheduled; }
};

struct SessionLook {
    std::string id{};
    MessageTally messages{};
    std::optional<double> oldest_age{}; ///< Of its active messages, in seconds.
    std::optional<bool> has_state{};    ///< Unset: not known.
    double change{0}; ///< Messages more a second than in the look before. Negative: fewer.
};

/// The result of one look at an entity.
struct EntityLook {
    std::string entity{};
    WallTime time{};
    std::optional<MessageTally> messages{}; ///< Unset: the broker does not show them.
    bool has_all_messages{true};            ///< Otherwise the first ones by sequence number.
    std::optional<double> oldest_age{};
    std::int64_t last_sequence_number{0};
    std::vector<SessionLook> sessions{};
    std::optional<std::uint64_t> session_count{}; ///< Unset: not known.
    std::optional<std::uint64_t> dead_letters{};  ///< Unset: not known, or it has none.
    bool has_all_dead_letters{true};
    std::map<int, std::uint64_t> ages{}; ///< Active messages by age: below 2^key seconds.
    std::vector<std::string> notes{};    ///< Parts that are missing, and why.
    std::optional<double> came{};        ///< Messages a second since the look before.
    std::optional<double> went{};
};

/// One peeked message, as far as a look needs it.
struct MessageGlance {
    std::optional<std::string_view> session_id{};
    DeliveryFacts facts{};
    std::size_t bytes{0};
};

/// Counts the messages and sessions of a look. It does no I/O.
class EntityTally {
public:
    /// `before`: the look before this one, or null. `seconds`: between the two.
    EntityTally(std::string entity, WallTime now, const EntityLook* before, double seconds);

    /// Whether another message may be read.
    [[nodiscard]] bool has_room() const noexcept;
    void add(const MessageGlance& message);
    /// The broker does not show messages.
    void no_messages();
    /// There are more messages. `why` says why no more were read.
    void cut_messages(const std::string& why);

    /// All ids of sessions that have messages or state.
    void add_sessions(const std::vector<std::string>& ids);
    /// The ids of the sessions that have state. Call it after `add_sessions`.
    void add_states(const std::vector<std::string>& ids);
    void add_dead_letters(std::uint64_t count, bool is_all);
    void note(const std::string& text);

    /// Call it last.
    [[nodiscard]] EntityLook finish();

private:
    SessionLook& session(const std::string& id);
    void compare();

    EntityLook look_;
    const EntityLook* before_;
    double seconds_;
    std::size_t bytes_{0};
    std::uint64_t came_{0};
    std::unordered_map<std::string, std::size_t, core::SessionIdHash, core::SessionIdEqual>
        places_{}; ///< Of sessions, in the look.
};

} // namespace sessionq::cli
