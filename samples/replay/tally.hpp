// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace replay {

/// A set of ordinals from 1. It needs little memory while it fills mostly from below.
class OrdinalSet {
public:
    /// Returns whether it was new.
    bool insert(std::uint64_t ordinal);
    [[nodiscard]] std::uint64_t size() const noexcept { return filled_ + beyond_.size(); }
    [[nodiscard]] std::uint64_t count_below(std::uint64_t ordinal) const noexcept;

private:
    std::uint64_t filled_{0}; // holds 1 .. filled_
    std::set<std::uint64_t> beyond_;
};

/// Tracks every message: sent, handler started, handler finished. The sender numbers the messages
/// of each session, so no conclusion depends on totals.
///
/// Out of order: a handler started while as many earlier messages of its session were unfinished as
/// may run at once. With one handler per session, that is any start before the previous end.
///
/// Thread safety: safe.
class Tally {
public:
    struct Figures {
        std::uint64_t sent{0};
        std::uint64_t sessions{0};
        std::uint64_t out_of_order{0};
        std::uint64_t lost{0};       ///< Sent, and no handler finished it.
        std::uint64_t duplicated{0}; ///< Second and later starts of a message's handler, and
                                     ///< starts for messages never sent.

        [[nodiscard]] bool faultless() const noexcept {
            return out_of_order == 0 && lost == 0 && duplicated == 0;
        }
    };

    struct SessionOutcome {
        std::string session_id;
        std::uint64_t messages{0};
        std::string last;
    };

    explicit Tally(std::uint32_t calls_per_session) : calls_per_session_{calls_per_session} {}

    /// Returns the next message's number in its session, from 1.
    [[nodiscard]] std::uint64_t next_ordinal(std::string_view session_id);
    void started(std::string_view session_id, std::uint64_t ordinal);
    /// Returns whether this was the first time. Keeps `outcome` as the session's last one.
    bool finished(std::string_view session_id, std::uint64_t ordinal, std::string_view outcome);

    [[nodiscard]] Figures figures() const;
    /// All sessions, those with most messages first.
    [[nodiscard]] std::vector<SessionOutcome> outcomes() const;

private:
    struct Session {
        std::uint64_t sent{0};
        OrdinalSet started{};
        OrdinalSet finished{};
        std::uint64_t out_of_order{0};
        std::uint64_t duplicated{0};
        std::string outcome{};
    };
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    struct Shard {
        mutable std::mutex mutex{};
        std::unordered_map<std::string, Session, Hash, std::equal_to<>> sessions{};
    };

    [[nodiscard]] Shard& shard_of(std::string_view session_id) {
        return shards_[Hash{}(session_id) % shards_.size()];
    }
    [[nodiscard]] static Session& session_of(Shard& shard, std::string_view session_id);

    std::uint32_t calls_per_session_;
    std::array<Shard, 64> shards_{};
};

} // namespace replay
