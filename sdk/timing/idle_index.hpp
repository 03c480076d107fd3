// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <sessionq/time.hpp>

#include "core/intrusive_list.hpp"

namespace sessionq::timing {

/// Read idle: nothing was read for a while, so the peer may be dead. Write idle: nothing was
/// written for a while, so a heartbeat is due.
enum class IdleKind : std::uint8_t { read, write };

class IdleEntry;

/// An entry's position in the index for one kind of idleness.
class IdleHook : public core::ListHook<> {
private:
    friend class IdleEntry;
    friend class IdleIndex;

    explicit IdleHook(IdleEntry& entry, Duration idle) noexcept : entry_{&entry}, idle_{idle} {}

    IdleEntry* entry_;
    Duration idle_; // zero or negative: disabled
    TimePoint active_{};
    std::uint64_t second_{0}; // the second under which it is filed
    bool watched_{false};     // added, and not reported since its last activity
};

/// An object that the index watches, usually a base or member of a connection. It is an intrusive
/// node, so recording activity allocates nothing. Destroying it removes it from the index.
class IdleEntry {
public:
    /// How long each kind may be quiet. Zero or negative: that kind is not watched.
    IdleEntry(Duration read_idle, Duration write_idle) noexcept
        : read_{*this, read_idle}, write_{*this, write_idle} {}
    IdleEntry(const IdleEntry&) = delete;
    IdleEntry& operator=(const IdleEntry&) = delete;

    [[nodiscard]] Duration idle(IdleKind kind) const noexcept {
        return kind == IdleKind::read ? read_.idle_ : write_.idle_;
    }

private:
    friend class IdleIndex;

    IdleHook read_;
    IdleHook write_;
};

/// Reports entries that have been quiet for too long. An entry is filed under the second in which
/// it turns idle. One circle of seconds serves reading and one serves writing. Activity moves an
/// entry in O(1). Within the same second it costs one comparison, so every read and write can be
/// recorded.
///
/// An entry is reported once for each period of idleness, never early and at most a second late.
/// Reads no clock. Bound to one thread. Destroying the index forgets its entries.
class IdleIndex {
public:
    /// `longest` is the length of the circle, rounded up to seconds, at least one. Longer idle
    /// times work too: such an entry is examined once a round.
    explicit IdleIndex(TimePoint start, Duration longest = std::chrono::hours{1});
    ~IdleIndex();
    IdleIndex(const IdleIndex&) = delete;
    IdleIndex& operator=(const IdleIndex&) = delete;

    /// Starts both idle clocks of `entry` at `now`.
    void add(IdleEntry& entry, TimePoint now) noexcept;

    /// Stops watching `entry`. No effect if it was not added.
    void remove(IdleEntry& entry) noexcept;

    /// Record that something was read or written, which restarts the clock. For added entries only.
    void on_read(IdleEntry& entry, TimePoint now) noexcept {
        on_activity(entry.read_, circles_[0], now);
    }
    void on_write(IdleEntry& entry, TimePoint now) noexcept {
        on_activity(entry.write_, circles_[1], now);
    }

    /// Changes how long `kind` may be quiet, counted from the last activity. A visitor may call it,
    /// also for an entry that is still to be visited.
    void set_idle(IdleEntry& entry, IdleKind kind, Duration idle) noexcept;

    /// Calls `visit(entry, kind)` for every entry that has turned idle by `now`, for each kind in
    /// the order of the seconds. The calls may be any time apart. `visit` may call everything
    /// except `advance`, and may remove and destroy any entry, but not the index.
    template <typename Visitor>
    void advance(TimePoint now, Visitor&& visit) {
        collect(now);
        for (const IdleKind kind : {IdleKind::read, IdleKind::write}) {
            while (IdleEntry* entry = next_idle(kind, now)) {
                visit(*entry, kind);
            }
        }
    }

    /// When to call `advance` next; empty if no entry is watched. With an idle time longer than the
    /// circle, that call may find nothing once a round.
    [[nodiscard]] std::optional<TimePoint> next_wakeup() const noexcept;

private:
    using Second = std::uint64_t; // seconds since start
    using List = core::IntrusiveList<IdleHook>;

    struct Circle {
        explicit Circle(std::size_t seconds) : slots(seconds), occupied((seconds + 63) / 64) {}

        std::vector<List> slots;
        // A bit for each slot that may hold entries. `next_wakeup` clears the bits of empty slots.
        mutable std::vector<std::uint64_t> occupied;
        List idle; // entries whose second has come, not examined yet
    };

    [[nodiscard]] Circle& circle(IdleKind kind) noexcept {
        return circles_[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] std::optional<Second> first_filed(const Circle& circle) const noexcept;

    void on_activity(IdleHook& hook, Circle& circle, TimePoint now) noexcept;
    void file(IdleHook& hook, Circle& circle) noexcept;
    void collect(TimePoint now) noexcept;
    [[nodiscard]] IdleEntry* next_idle(IdleKind kind, TimePoint now) noexcept;

    TimePoint origin_;
    Second current_{0}; // all seconds up to this one have been examined
    std::array<Circle, 2> circles_;
};

} // namespace sessionq::timing
