#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <sessionq/time.hpp>

#include "core/intrusive_list.hpp"

namespace sessionq::timing {

/// Nothing read for a while (a dead peer), or nothing written (time for a heartbeat).
enum class IdleKind : std::uint8_t { read, write };

class IdleEntry;

/// One kind's place of an entry in the index.
class IdleHook : public core::ListHook<> {
private:
    friend class IdleEntry;
    friend class IdleIndex;

    explicit IdleHook(IdleEntry& entry, Duration idle) noexcept : entry_{&entry}, idle_{idle} {}

    IdleEntry* entry_;
    Duration idle_; // not positive: disabled
    TimePoint active_{};
    std::uint64_t second_{0}; // under which it is filed
    bool watched_{false};     // added, and not reported since its last activity
};

/// What is watched, usually a base or member of a connection: an intrusive node, so that activity
/// allocates nothing. Destroying it removes it.
class IdleEntry {
public:
    /// How long each kind may be quiet. Zero or negative: not watched for that kind.
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

/// Who has been quiet for too long: entries filed under the second in which they turn idle, in a
/// circle of seconds, one circle for reading and one for writing. Activity moves an entry in O(1),
/// and is a comparison while it stays within the second, so it may be told of every read and write.
///
/// An entry is reported once per spell of idleness, never early, and at most a second late. Pure,
/// bound to one thread. Destroying the index forgets its entries.
class IdleIndex {
public:
    /// `longest`: the circle's length, rounded up to seconds, at least one. Longer idle times work
    /// too; such an entry is looked at once a round.
    explicit IdleIndex(TimePoint start, Duration longest = std::chrono::hours{1});
    ~IdleIndex();
    IdleIndex(const IdleIndex&) = delete;
    IdleIndex& operator=(const IdleIndex&) = delete;

    /// Both clocks of `entry` start at `now`.
    void add(IdleEntry& entry, TimePoint now) noexcept;

    /// After it, the entry is not reported. No effect on one that was not added.
    void remove(IdleEntry& entry) noexcept;

    /// Something was read, or written: the clock restarts. For entries that were added.
    void on_read(IdleEntry& entry, TimePoint now) noexcept {
        on_activity(entry.read_, circles_[0], now);
    }
    void on_write(IdleEntry& entry, TimePoint now) noexcept {
        on_activity(entry.write_, circles_[1], now);
    }

    /// Changes how long `kind` may be quiet, counted from the last activity; also from the visitor,
    /// for an entry that is still to be visited.
    void set_idle(IdleEntry& entry, IdleKind kind, Duration idle) noexcept;

    /// Calls `visit(entry, kind)` for all that have turned idle by `now`, whatever the number of
    /// seconds since the last call; for each kind in the order of the seconds. `visit` may call
    /// anything but `advance`, and may remove and destroy any entry, though not the index.
    template <typename Visitor>
    void advance(TimePoint now, Visitor&& visit) {
        collect(now);
        for (const IdleKind kind : {IdleKind::read, IdleKind::write}) {
            while (IdleEntry* entry = next_idle(kind, now)) {
                visit(*entry, kind);
            }
        }
    }

    /// When `advance` must be called next; none: nobody is watched. It may find nothing once a
    /// round for an idle time longer than the circle.
    [[nodiscard]] std::optional<TimePoint> next_wakeup() const noexcept;

private:
    using Second = std::uint64_t; // since start
    using List = core::IntrusiveList<IdleHook>;

    struct Circle {
        explicit Circle(std::size_t seconds) : slots(seconds), occupied((seconds + 63) / 64) {}

        std::vector<List> slots;
        mutable std::vector<std::uint64_t>
            occupied; // a bit for each slot that may hold entries; next_wakeup clears what it finds empty
        List idle; // reached their second, to be looked at
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
    Second current_{0}; // all up to it have been looked at
    std::array<Circle, 2> circles_;
};

} // namespace sessionq::timing
