#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/random.hpp"
#include "faults/script.hpp"

namespace sessionq::faults {

/// What is done to one connection.
struct Stroke {
    std::uint64_t connection{0};
    Fault fault{};     ///< its kind, way, rate; `clog` comes as `stall`s
    TimePoint until{}; ///< when a fault that lasts is over
};

/// Decides whom the faults of a script hit, and when. No I/O, no clock.
class Director {
public:
    Director(Script script, std::uint64_t seed) : script_{std::move(script)}, random_{seed} {}

    void start(TimePoint now) noexcept { start_ = now; }
    /// The rest of the script does not happen, and the door is open.
    void stop() noexcept {
        next_ = script_.size();
        later_.clear();
        door_ = Door::open;
    }

    /// What is due, given the connections that live.
    [[nodiscard]] std::vector<Stroke> due(TimePoint now,
                                          const std::vector<std::uint64_t>& connections);
    /// When something is due next; max: nothing any more.
    [[nodiscard]] TimePoint next_due() const noexcept;
    [[nodiscard]] bool is_over() const noexcept { return next_due() == TimePoint::max(); }

    enum class Door : std::uint8_t { open, shut, rejects, swallows };
    /// What becomes of a new connection. The last of the faults that concern it and are in force.
    [[nodiscard]] Door door(TimePoint now) const noexcept {
        return now < door_until_ ? door_ : Door::open;
    }
    [[nodiscard]] TimePoint door_until() const noexcept { return door_until_; }

    /// Faults that hit something, by kind.
    [[nodiscard]] const std::map<FaultKind, std::uint64_t>& counts() const noexcept {
        return counts_;
    }

private:
    [[nodiscard]] std::vector<std::uint64_t> choose(std::size_t count,
                                                    std::vector<std::uint64_t> connections);
    void strike(const Fault& fault, TimePoint now, const std::vector<std::uint64_t>& connections,
                std::vector<Stroke>& strokes);
    void clog(const Fault& fault, TimePoint now, const std::vector<std::uint64_t>& victims);

    Script script_;
    core::Random random_;
    TimePoint start_{};
    std::size_t next_{0};
    std::multimap<TimePoint, Stroke> later_{}; ///< of clogs under way
    Door door_{Door::open};
    TimePoint door_until_{TimePoint::min()};
    std::map<FaultKind, std::uint64_t> counts_{};
};

} // namespace sessionq::faults
