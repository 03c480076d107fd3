// SPDX-License-Identifier: MIT
#include "simulation/script.hpp"

#include <algorithm>
#include <array>

namespace sessionq::simulation {

Script draw_script(const ScriptMix& mix, const ScriptTimes& times, core::Random& random) {
    using std::chrono::milliseconds;
    const auto chance = [&](unsigned percent) {
        return percent != 0 && random.below(100) < percent;
    };
    Script script;
    if (!chance(mix.instant)) {
        script.takes = milliseconds{
            1 + random.below(static_cast<std::uint64_t>(mix.takes_high / milliseconds{1}))};
    }
    if (chance(mix.outlives_lock)) {
        script.takes =
            times.lock_length +
            milliseconds{random.below(
                static_cast<std::uint64_t>(times.lock_length * 2 / milliseconds{1}) + 1)};
    }
    if (chance(mix.exactly_idle) && times.idle_timeout < std::chrono::hours{1}) {
        script.takes = std::max<Duration>(times.idle_timeout +
                                              milliseconds{static_cast<int>(random.below(3)) - 1},
                                          Duration::zero());
    }
    script.ending = chance(mix.throws) ? Script::Ending::throws : Script::Ending::returns;
    script.until_stopped = chance(mix.until_stopped);
    script.hangs = chance(mix.hangs);
    if (chance(mix.settles)) {
        constexpr std::array outcomes{ports::Outcome::complete, ports::Outcome::abandon,
                                      ports::Outcome::dead_letter, ports::Outcome::defer,
                                      ports::Outcome::release};
        script.settles = outcomes[random.below(outcomes.size())];
        script.settles_again = chance(mix.settles_again);
    }
    if (chance(mix.calls_stop)) {
        script.side = Script::Side::stop;
    } else if (chance(mix.calls_release)) {
        script.side = Script::Side::release;
    } else if (chance(mix.changes_limits)) {
        script.side = Script::Side::change_limits;
    } else if (chance(mix.pauses)) {
        script.side = Script::Side::pause;
    }
    if (chance(mix.uses_state)) {
        script.state_calls = static_cast<unsigned>(1 + random.below(3));
    }
    script.takes_deferred = chance(mix.takes_deferred);
    if (chance(mix.sends)) {
        script.sends = static_cast<unsigned>(1 + random.below(2));
    }
    return script;
}

} // namespace sessionq::simulation
