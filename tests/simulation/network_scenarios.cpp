// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <stdexcept>

#include "simulation/setup.hpp"

namespace sessionq::simulation {
namespace {

using Random = core::Random;

bool chance(Random& random, unsigned percent) { return random.below(100) < percent; }
Duration some(Random& random, Duration low, Duration high) {
    return low + milliseconds{
                     random.below(static_cast<std::uint64_t>((high - low) / milliseconds{1}) + 1)};
}

void load(Setup& s, Random& r) {
    s.messages = 10 + r.below(30);
    s.arrivals_over = chance(r, 50) ? Duration::zero() : Duration{seconds{3}};
    s.scripts.instant = 80;
}

/// Turns the seam faults of a scenario into faults of the wires with the same effect above them.
void take_to_wires(Setup& s) {
    const Faults seam = s.faults;
    NetworkFaults& n = s.network;
    s.faults = {.latency_low = seam.latency_low,
                .latency_high = seam.latency_high,
                .stall_every = seam.stall_every,
                .stall_high = seam.stall_high};
    n.cut_every = seam.detach_every > Duration::zero() ? seam.detach_every : seam.disconnect_every;
    n.outage_high = seam.outage_high;
    n.half_open = seam.half_open;
    n.cut_per_mille =
        std::max({seam.detach_on_transfer, seam.detach_on_settle, seam.detach_after_settle});
    n.dial_refused = seam.accept_refused;
    n.dial_mute = seam.accept_mute / 4;
    const unsigned slow =
        std::max({seam.accept_slow, seam.drain_slow, seam.drain_mute, seam.renew_slow,
                  seam.renew_failed, seam.settle_slow, seam.close_slow});
    if (slow != 0) {
        n.stall_every = milliseconds{40'000 / slow};
        n.stall_high = seam.drain_mute != 0 || seam.renew_failed != 0 ? seconds{8} : seconds{3};
    }
    if (seam.busy_every > Duration::zero() || seam.settle_refused != 0) {
        n.failing_every =
            seam.busy_every > Duration::zero() ? seam.busy_every : Duration{seconds{3}};
        n.failing_high =
            seam.busy_high > Duration::zero() ? seam.busy_high : Duration{milliseconds{300}};
    }
}

/// Chooses what does not depend on faults.
void choose_wires(Setup& s, Random& r) {
    s.network.pieces = chance(r, 50) ? 1 : static_cast<unsigned>(2 + r.below(5));
    s.network.commit_high =
        chance(r, 50) ? Duration::zero() : Duration{milliseconds{1 + r.below(20)}};
    s.network.token_high =
        chance(r, 50) ? Duration::zero() : Duration{milliseconds{1 + r.below(500)}};
    s.most_steps = 300'000;
    s.fronts = 1 + r.below(2);
    s.client_idle = some(r, seconds{10}, seconds{40});
    s.server_idle = some(r, seconds{10}, seconds{40});
    s.at_once = s.network.pieces == 1 ? 1000 : s.network.pieces - 1;
}

/// Messages come over wires.
void senders(Setup& s, Random& r) {
    s.sending = {.clients = 1 + r.below(3),
                 .batch = chance(r, 30) ? 1 : 2 + r.below(8),
                 .timeout = chance(r, 40) ? some(r, milliseconds{200}, seconds{4}) : seconds{15}};
    s.messages = 5 + r.below(15);
    s.scripts.instant = 80;
}

/// The broker is killed and restarts.
void killed(Setup& s, Random& r) {
    s.network.kill_every = some(r, milliseconds{500}, seconds{5});
    s.network.down_high = some(r, milliseconds{1}, seconds{3});
    s.network.commit_high = milliseconds{r.below(200)};
    s.client_idle = some(r, seconds{4}, seconds{15});
}

/// The consumer is killed, and another one starts.
void dying(Setup& s, Random& r) {
    s.deaths_every = some(r, milliseconds{200}, seconds{4});
    s.dead_high = chance(r, 50) ? Duration{milliseconds{1}} : Duration{seconds{4}};
    s.network.half_open = chance(r, 25) ? 40 : 0;
    s.network.commit_high = milliseconds{r.below(50)};
    s.lock_length = some(r, seconds{3}, seconds{10});
    s.client_idle = some(r, seconds{4}, seconds{15});
    s.server_idle = some(r, seconds{4}, seconds{15});
}

CrashGuard some_guard(Random& r) {
    const bool parks = chance(r, 25);
    return {.deaths = static_cast<std::uint32_t>(2 + r.below(3)),
            .then = parks ? CrashGuard::Action::park_session : CrashGuard::Action::dead_letter,
            .park_for = some(r, milliseconds{0}, seconds{2}),
            .every_session = chance(r, 15)};
}

using Change = void (*)(Setup&, Random&);

/// The scenarios of the network alone. They start from `base`.
struct NetworkScenario {
    const char* name;
    const char* base;
    Change change;
};

constexpr std::array network_scenarios{
    NetworkScenario{"cut_under_load", "steady",
                    [](Setup& s, Random& r) {
                        load(s, r);
                        s.network.cut_per_mille = static_cast<unsigned>(1 + r.below(10));
                        s.network.outage_high =
                            chance(r, 50) ? Duration::zero() : Duration{seconds{3}};
                    }},
    NetworkScenario{"cut_while_accepting", "one_message_sessions",
                    [](Setup& s, Random& r) {
                        s.network.cut_per_mille = static_cast<unsigned>(2 + r.below(20));
                        s.options.accept_wait = some(r, milliseconds{200}, seconds{2});
                    }},
    NetworkScenario{"cut_while_draining", "idle_ties",
                    [](Setup& s, Random& r) {
                        s.options.session_idle_timeout = milliseconds{r.below(60)};
                        s.arrivals_over = seconds{8};
                        s.network.cut_per_mille = static_cast<unsigned>(2 + r.below(20));
                    }},
    NetworkScenario{"cut_while_settling", "failing_handlers",
                    [](Setup& s, Random& r) {
                        load(s, r);
                        s.options.confirm_settlements =
                            s.options.max_concurrent_calls_per_session == 1 && chance(r, 60);
                        s.network.commit_high = milliseconds{1 + r.below(100)};
                        s.network.cut_per_mille = static_cast<unsigned>(2 + r.below(15));
                        s.scripts.instant = 90;
                    }},
    NetworkScenario{"half_open", "steady",
                    [](Setup& s, Random& r) {
                        load(s, r);
                        s.network.half_open = 60;
                        s.network.cut_every = some(r, seconds{2}, seconds{6});
                        s.client_idle = some(r, seconds{4}, seconds{15});
                        s.server_idle = some(r, seconds{4}, seconds{15});
                    }},
    NetworkScenario{"broker_restarts", "steady",
                    [](Setup& s, Random& r) {
                        load(s, r);
                        s.network.restart_every = some(r, seconds{1}, seconds{6});
                        s.network.down_high = some(r, milliseconds{1}, seconds{5});
                        s.network.restart_orderly = chance(r, 50) ? 50 : 0;
                        s.scripts.instant = 60;
                        s.scripts.takes_high = seconds{1};
                    }},
    NetworkScenario{"slow_network", "steady",
                    [](Setup& s, Random& r) {
                        s.faults.latency_low = milliseconds{r.below(100)};
                        s.faults.latency_high = s.faults.latency_low + milliseconds{r.below(200)};
                        s.network.stall_every =
                            chance(r, 50) ? some(r, seconds{1}, seconds{4}) : Duration::zero();
                        s.network.stall_high = seconds{2};
                        s.network.pieces = 6;
                    }},
    NetworkScenario{"locks_end_at_the_broker", "slow_handlers",
                    [](Setup& s, Random& r) {
                        s.lock_length = some(r, seconds{2}, seconds{6});
                        s.network.stall_every = some(r, seconds{1}, seconds{5});
                        s.network.stall_high = s.lock_length * 2;
                    }},
    NetworkScenario{"token_expiry", "steady",
                    [](Setup& s, Random& r) {
                        s.network.token_life = some(r, seconds{3}, seconds{20});
                        s.network.token_refused =
                            chance(r, 50) ? static_cast<unsigned>(r.below(30)) : 0;
                        s.arrivals_over = seconds{20};
                        s.trouble_for = seconds{40};
                    }},
    NetworkScenario{"throttling", "failing_handlers",
                    [](Setup& s, Random& r) {
                        s.network.failing_every = some(r, milliseconds{500}, seconds{3});
                        s.network.failing_high = some(r, milliseconds{1}, seconds{3});
                    }},
    NetworkScenario{"sending", "steady", [](Setup& s, Random& r) { senders(s, r); }},
    NetworkScenario{"cut_while_sending", "steady",
                    [](Setup& s, Random& r) {
                        senders(s, r);
                        s.network.cut_per_mille = static_cast<unsigned>(2 + r.below(30));
                        s.network.commit_high = milliseconds{r.below(300)};
                        s.network.outage_high =
                            chance(r, 50) ? Duration::zero() : Duration{seconds{2}};
                        s.network.half_open = chance(r, 30) ? 40 : 0;
                        s.client_idle = some(r, seconds{4}, seconds{15});
                    }},
    NetworkScenario{"sending_amid_trouble", "steady",
                    [](Setup& s, Random& r) {
                        senders(s, r);
                        s.network.cut_per_mille = static_cast<unsigned>(r.below(8));
                        s.network.commit_high = milliseconds{r.below(100)};
                        s.network.restart_every =
                            chance(r, 40) ? some(r, seconds{1}, seconds{6}) : Duration::zero();
                        s.network.restart_orderly = chance(r, 50) ? 50 : 0;
                        s.network.down_high = seconds{3};
                        s.network.failing_every = chance(r, 40)
                                                      ? some(r, milliseconds{500}, seconds{3})
                                                      : Duration::zero();
                        s.network.failing_high = seconds{1};
                        s.network.stall_every =
                            chance(r, 40) ? some(r, seconds{1}, seconds{4}) : Duration::zero();
                        s.network.stall_high = seconds{3};
                        s.network.token_life =
                            chance(r, 40) ? some(r, seconds{3}, seconds{20}) : Duration::zero();
                        s.network.token_refused =
                            chance(r, 30) ? static_cast<unsigned>(r.below(30)) : 0;
                    }},
    NetworkScenario{"session_state", "steady",
                    [](Setup& s, Random& r) {
                        load(s, r);
                        s.scripts.uses_state = 60;
                        s.network.commit_high = milliseconds{r.below(100)};
                        s.network.cut_per_mille =
                            chance(r, 50) ? static_cast<unsigned>(1 + r.below(10)) : 0;
                        s.network.failing_every = chance(r, 30)
                                                      ? some(r, milliseconds{500}, seconds{3})
                                                      : Duration::zero();
                        s.network.failing_high = seconds{1};
                    }},
    NetworkScenario{"retried_later", "steady",
                    [](Setup& s, Random& r) {
                        load(s, r);
                        s.options.failure_policy =
                            FailurePolicy::retry_later({some(r, milliseconds{200}, seconds{3}),
                                                        some(r, seconds{1}, seconds{5})});
                        s.scripts.throws = static_cast<unsigned>(5 + r.below(30));
                        s.network.commit_high = milliseconds{r.below(100)};
                        s.network.cut_every =
                            chance(r, 70) ? some(r, seconds{1}, seconds{6}) : Duration::zero();
                        s.network.restart_every =
                            chance(r, 30) ? some(r, seconds{2}, seconds{6}) : Duration::zero();
                        s.network.down_high = seconds{1};
                    }},
    NetworkScenario{"killed_and_retried_later", "steady",
                    [](Setup& s, Random& r) {
                        load(s, r);
                        dying(s, r);
                        s.options.failure_policy =
                            FailurePolicy::retry_later({some(r, milliseconds{200}, seconds{3}),
                                                        some(r, seconds{1}, seconds{5})});
                        s.scripts.throws = static_cast<unsigned>(5 + r.below(30));
                        s.scripts.uses_state = chance(r, 40) ? 30 : 0;
                        if (chance(r, 50)) {
                            s.options.max_concurrent_calls_per_session = 1;
                            s.options.crash_guard = some_guard(r);
                            s.scripts.kills = 5;
                            s.scripts.throws = 50;
                        }
                    }},
    NetworkScenario{
        "poison_messages", "steady",
        [](Setup& s, Random& r) {
            dying(s, r);
            s.options.max_concurrent_calls_per_session = 1;
            s.options.crash_guard = some_guard(r);
            s.options.failure_policy =
                chance(r, 50) ? FailurePolicy::abandon_at_once()
                : chance(r, 50)
                    ? FailurePolicy::park_session(milliseconds{r.below(1000)})
                    : FailurePolicy::retry_later({some(r, milliseconds{1}, seconds{1})});
            s.deaths_every = chance(r, 20) ? s.deaths_every : Duration::zero();
            s.scripts.kills = static_cast<unsigned>(1 + r.below(15));
            s.scripts.kills_once = chance(r, 30) ? 5 : 0;
            s.scripts.throws = chance(r, 50) ? static_cast<unsigned>(r.below(30)) : 0;
            s.scripts.takes_high = milliseconds{1 + r.below(500)};
            s.scripts.uses_state = chance(r, 30) ? 30 : 0;
            s.network.cut_every =
                chance(r, 20) ? some(r, seconds{1}, seconds{6}) : Duration::zero();
            s.network.stall_every =
                chance(r, 40) ? some(r, milliseconds{100}, seconds{2}) : Duration::zero();
            s.network.stall_high = seconds{2};
            s.sessions = 2 + r.below(6);
            s.messages = 1 + r.below(5);
            if (chance(r, 60)) { // suspects leave over a stalled connection while others kill
                s.loops = 2;
                s.scripts.kills = static_cast<unsigned>(20 + r.below(30));
                s.scripts.takes_high = milliseconds{1 + r.below(20)};
                s.network.stall_every = some(r, milliseconds{20}, milliseconds{200});
            }
            if (chance(r, 20)) { // what is suspicious only because it failed
                s.deaths_every = Duration::zero();
                s.scripts.kills = s.scripts.kills_once = 0;
            }
        }},
    NetworkScenario{"deferred_messages", "steady",
                    [](Setup& s, Random& r) {
                        load(s, r);
                        s.scripts.settles = static_cast<unsigned>(30 + r.below(60));
                        s.scripts.takes_deferred = 40;
                        s.options.auto_complete = chance(r, 85);
                        s.network.commit_high = milliseconds{r.below(50)};
                        s.network.cut_every =
                            chance(r, 40) ? some(r, seconds{1}, seconds{6}) : Duration::zero();
                        s.deaths_every =
                            chance(r, 20) ? some(r, seconds{1}, seconds{4}) : Duration::zero();
                    }},
    NetworkScenario{"redriving", "steady",
                    [](Setup& s, Random& r) {
                        s.redrives = true;
                        s.redrives_hold = chance(r, 80);
                        s.detects_duplicates = chance(r, 40);
                        s.redrive_deaths_every = chance(r, 60)
                                                     ? some(r, milliseconds{100}, seconds{5})
                                                     : Duration::zero();
                        s.redrives_pause = chance(r, 30);
                        if (chance(r, 50)) { // copies wait while other sessions are handled
                            s.options.max_concurrent_sessions = 1;
                            s.options.max_messages_per_turn = 1;
                            s.scripts.instant = 10;
                            s.scripts.takes_high = seconds{1};
                        }
                        s.entities = 1;
                        s.sessions = 2 + r.below(5);
                        s.messages = 2 + r.below(10);
                        s.stop_early = false;
                        s.lock_length = some(r, seconds{3}, seconds{10});
                        s.options.max_concurrent_calls_per_session = 1;
                        s.options.failure_policy = FailurePolicy::dead_letter();
                        s.scripts.throws = static_cast<unsigned>(20 + r.below(60));
                        s.network.commit_high = milliseconds{r.below(50)};
                        s.network.cut_every =
                            chance(r, 30) ? some(r, seconds{1}, seconds{6}) : Duration::zero();
                    }},
    NetworkScenario{"state_and_lost_locks", "slow_handlers",
                    [](Setup& s, Random& r) {
                        s.scripts.uses_state = 90;
                        s.messages = 10;
                        s.scripts.takes_high = seconds{3};
                        s.lock_length = some(r, seconds{2}, seconds{6});
                        s.network.stall_every = some(r, milliseconds{500}, seconds{3});
                        s.network.stall_high = s.lock_length * 2;
                        s.network.cut_per_mille = static_cast<unsigned>(r.below(10));
                        s.network.half_open = static_cast<unsigned>(r.below(60));
                        s.network.restart_every =
                            chance(r, 30) ? some(r, seconds{2}, seconds{6}) : Duration::zero();
                        s.network.down_high = seconds{1};
                    }},
    NetworkScenario{"broker_killed", "steady",
                    [](Setup& s, Random& r) {
                        senders(s, r);
                        killed(s, r);
                        s.scripts.uses_state = 40;
                        s.network.half_open = chance(r, 30) ? 40 : 0;
                    }},
    NetworkScenario{"killed_while_sending", "steady",
                    [](Setup& s, Random& r) {
                        senders(s, r);
                        killed(s, r);
                        s.messages = 30;
                        s.network.kill_every = some(r, milliseconds{200}, seconds{2});
                        s.network.cut_per_mille =
                            chance(r, 30) ? static_cast<unsigned>(r.below(10)) : 0;
                    }},
    NetworkScenario{"killed_while_settling", "failing_handlers",
                    [](Setup& s, Random& r) {
                        load(s, r);
                        killed(s, r);
                        s.options.confirm_settlements =
                            s.options.max_concurrent_calls_per_session == 1 && chance(r, 60);
                        s.scripts.instant = 90;
                    }},
    NetworkScenario{"scheduling", "steady",
                    [](Setup& s, Random& r) {
                        s.scheduled = 5 + r.below(40);
                        s.sending.timeout =
                            chance(r, 40) ? some(r, milliseconds{200}, seconds{4}) : seconds{15};
                        s.messages = 3;
                        s.scripts.instant = 80;
                        s.network.commit_high = milliseconds{r.below(100)};
                        s.network.cut_per_mille =
                            chance(r, 60) ? static_cast<unsigned>(2 + r.below(20)) : 0;
                        if (chance(r, 40)) {
                            killed(s, r);
                        }
                    }},
    NetworkScenario{"busy_handlers", "long_handlers",
                    [](Setup& s, Random& r) {
                        s.scripts.sends = 40;
                        s.scripts.uses_state = 30;
                        s.scripts.outlives_lock = static_cast<unsigned>(r.below(20));
                    }},
    NetworkScenario{"busy_handlers_amid_trouble", "long_handlers",
                    [](Setup& s, Random& r) {
                        s.scripts.sends = 40;
                        s.scripts.uses_state = 30;
                        s.scripts.outlives_lock = static_cast<unsigned>(r.below(20));
                        s.locks_last = false;
                        s.client_idle = some(r, seconds{4}, seconds{15});
                        s.network.half_open = chance(r, 30) ? 40 : 0;
                        s.network.cut_per_mille = static_cast<unsigned>(r.below(15));
                        s.network.commit_high = milliseconds{r.below(100)};
                        s.network.stall_every =
                            chance(r, 30) ? some(r, seconds{1}, seconds{4}) : Duration::zero();
                        s.network.stall_high = seconds{3};
                        s.network.failing_every = chance(r, 30)
                                                      ? some(r, milliseconds{500}, seconds{3})
                                                      : Duration::zero();
                        s.network.failing_high = seconds{1};
                        if (chance(r, 30)) {
                            killed(s, r);
                        }
                    }},
    NetworkScenario{"pauses_amid_delays", "pauses",
                    [](Setup& s, Random& r) {
                        s.options.failure_policy =
                            FailurePolicy::retry_later({some(r, milliseconds{200}, seconds{3}),
                                                        some(r, seconds{1}, seconds{5})});
                        s.network.commit_high = milliseconds{r.below(50)};
                    }},
    NetworkScenario{"pauses_amid_trouble", "pauses",
                    [](Setup& s, Random& r) {
                        s.locks_last = false;
                        s.network.cut_per_mille = static_cast<unsigned>(r.below(15));
                        s.network.commit_high = milliseconds{r.below(100)};
                        s.network.stall_every =
                            chance(r, 30) ? some(r, seconds{1}, seconds{4}) : Duration::zero();
                        s.network.stall_high = seconds{3};
                        s.network.restart_every =
                            chance(r, 30) ? some(r, seconds{2}, seconds{6}) : Duration::zero();
                        s.network.down_high = seconds{1};
                    }},
    NetworkScenario{
        "everything_at_once", "random",
        [](Setup& s, Random& r) {
            NetworkFaults& n = s.network;
            n.cut_per_mille = static_cast<unsigned>(r.below(5));
            n.half_open = static_cast<unsigned>(r.below(50));
            n.restart_every = chance(r, 30) ? some(r, seconds{3}, seconds{9}) : Duration::zero();
            n.down_high = seconds{3};
            n.stall_every = chance(r, 30) ? some(r, seconds{1}, seconds{5}) : Duration::zero();
            n.stall_high = seconds{4};
            n.token_life = chance(r, 30) ? some(r, seconds{5}, seconds{30}) : Duration::zero();
            s.client_idle = some(r, seconds{5}, seconds{20});
            s.sending.clients = chance(r, 50) ? 1 + r.below(2) : 0;
            s.sending.batch = 1 + r.below(4);
            s.scripts.uses_state = chance(r, 40) ? 30 : 0;
            s.scripts.sends = chance(r, 40) ? 20 : 0;
            if (n.restart_every == Duration::zero() && s.foreign == 0 && chance(r, 30)) {
                killed(s, r);
            }
        }},
};

} // namespace

const std::vector<std::string>& network_scenario_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> made;
        for (const NetworkScenario& each : network_scenarios) {
            made.emplace_back(each.name);
        }
        made.insert(made.end(), scenario_names().begin(), scenario_names().end());
        return made;
    }();
    return names;
}

Setup make_network_setup(const std::string& scenario, Random& random) {
    const auto own = std::ranges::find(network_scenarios, scenario, &NetworkScenario::name);
    Setup setup = make_setup(own != network_scenarios.end() ? own->base : scenario, random);
    take_to_wires(setup);
    choose_wires(setup, random);
    if (own != network_scenarios.end()) {
        own->change(setup, random);
        setup.quiet = false;
        if (setup.options.crash_guard &&
            setup.options.crash_guard->then == CrashGuard::Action::park_session) {
            setup.max_deliveries = 6; // else what is parked is parked for ever
        }
    }
    return setup;
}

} // namespace sessionq::simulation
