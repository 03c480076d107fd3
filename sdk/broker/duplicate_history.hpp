// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <sessionq/time.hpp>

namespace sessionq::broker {

/// The message ids that an entity has accepted within its window. Forgets old ids on use, so it
/// needs no timer.
class DuplicateHistory {
public:
    explicit DuplicateHistory(Duration window) noexcept : window_{window} {}

    /// The sequence number under which the id was accepted, if that was within the window before
    /// `now`.
    [[nodiscard]] std::optional<std::int64_t> find(std::string_view message_id, TimePoint now);

    /// Remembers an id that `find` does not know.
    void add(std::string_view message_id, std::int64_t sequence, TimePoint now) {
        remember(message_id, sequence, now + window_);
    }

    /// Remembers an id until an instant. `until` must not be before that of any other remembered
    /// id.
    void remember(std::string_view message_id, std::int64_t sequence, TimePoint until);

    [[nodiscard]] std::size_t size() const noexcept { return taken_.size(); }
    /// The memory that the ids take which are remembered at `now`, estimated.
    [[nodiscard]] std::size_t bytes(TimePoint now) {
        forget_old(now);
        return bytes_;
    }

private:
    /// Beside its text: two entries, and the bytes that allocations add.
    static constexpr std::size_t beside_an_id = 128;

    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view id) const noexcept {
            return std::hash<std::string_view>{}(id);
        }
    };
    struct Entry {
        TimePoint until;
        const std::string* id; // the key in taken_
    };

    void forget_old(TimePoint now);

    Duration window_;
    std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> taken_;
    std::deque<Entry> by_age_;
    std::size_t bytes_{0};
};

} // namespace sessionq::broker
