// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include <sessionq/time.hpp>

#include "core/random.hpp"
#include "ports/delivery.hpp"

namespace sessionq::simulation {

/// What one handler does.
struct Script {
    enum class Ending : std::uint8_t { returns, throws };
    enum class Side : std::uint8_t { none, stop, release, change_limits, pause };

    Duration takes{}; ///< until it ends
    Ending ending{Ending::returns};
    bool until_stopped{false};               ///< waits for its stop token instead
    bool hangs{false};                       ///< never ends by itself
    std::optional<ports::Outcome> settles{}; ///< what the handler settles half way
    bool settles_again{false};               ///< it settles a second time
    Side side{Side::none};                   ///< what it calls meanwhile
    unsigned state_calls{0};    ///< how often it reads or sets its session's state half way
    bool takes_deferred{false}; ///< it receives deferred messages half way
    unsigned sends{0};          ///< how many messages it sends half way
};

/// How often a handler does what, in percent.
struct ScriptMix {
    unsigned instant{60}; ///< takes no time; else between 1 ms and `takes_high`
    Duration takes_high{std::chrono::milliseconds{20}};
    unsigned throws{0};
    unsigned until_stopped{0};
    unsigned hangs{0};
    unsigned settles{0};
    unsigned settles_again{0};
    unsigned calls_stop{0};
    unsigned calls_release{0};
    unsigned changes_limits{0};
    unsigned pauses{0}; ///< or resumes
    unsigned uses_state{0};
    unsigned takes_deferred{0}; ///< with the product's own port only
    unsigned sends{0};          ///< with the product's own port only
    unsigned outlives_lock{0};  ///< takes one to three times the length of the lock
    unsigned kills{0};          ///< messages that kill the consumer whenever they are handled
    unsigned kills_once{0};     ///< or only at their first time
    unsigned exactly_idle{0};   ///< takes as long as the idle timeout, a tick less, or a tick more
};

/// The lengths that a handler may depend on. Zero: locks do not expire.
struct ScriptTimes {
    Duration idle_timeout{};
    Duration lock_length{};
};

[[nodiscard]] Script draw_script(const ScriptMix& mix, const ScriptTimes& times,
                                 core::Random& random);

} // namespace sessionq::simulation
