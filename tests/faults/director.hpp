// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/random.hpp"
#include "faults/script.hpp"

namespace sessionq::faults {

/// A fault on one connection.
struct AppliedFault {
    std::uint64_t connection{0};
    Fault fault{};     ///< kind, way and rate; a `clog` becomes several stalls
    TimePoint until{}; ///< when a lasting fault ends
};

/// Decides when the faults of a script happen, and to which connections. No I/O, no clock.
class Director {
public:
    Director(Script script, std::uint64_t seed) : script_{std::move(script)}, random_{seed} {}

    void start(TimePoint now) noexcept { start_ = now; }
    /// Skips the rest of the script and opens the door.
    void stop() noexcept {
        next_ = script_.size();
        later_.clear();
        door_ = Door::open;
    }

    /// Returns the faults due now for the living connections.
    [[nodiscard]] std::vector<AppliedFault> due(TimePoint now,
                                                const std::vector<std::uint64_t>& connections);
    /// Returns when the next fault is due, or max if none is left.
    [[nodiscard]] TimePoint next_due() const noexcept;
    [[nodiscard]] bool is_over() const noexcept { return next_due() == TimePoint::max(); }

    enum class Door : std::uint8_t { open, shut, rejects, swallows };
    /// Returns how to treat a new connection, by the latest door fault in force.
    [[nodiscard]] Door door(TimePoint now) const noexcept {
        return now < door_until_ ? door_ : Door::open;
    }
    [[nodiscard]] TimePoint door_until() const noexcept { return door_until_; }

    /// Faults that hit a connection, by kind.
    [[nodiscard]] const std::map<FaultKind, std::uint64_t>& counts() const noexcept {
        return counts_;
    }

private:
    [[nodiscard]] std::vector<std::uint64_t> choose(std::size_t count,
                                                    std::vector<std::uint64_t> connections);
    void strike(const Fault& fault, TimePoint now, const std::vector<std::uint64_t>& connections,
                std::vector<AppliedFault>& applied);
    void clog(const Fault& fault, TimePoint now, const std::vector<std::uint64_t>& victims);

    Script script_;
    core::Random random_;
    TimePoint start_{};
    std::size_t next_{0};
    std::multimap<TimePoint, AppliedFault> later_{}; ///< of active clogs
    Door door_{Door::open};
    TimePoint door_until_{TimePoint::min()};
    std::map<FaultKind, std::uint64_t> counts_{};
};

} // namespace sessionq::faults
