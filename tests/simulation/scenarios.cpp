// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>
#include <utility>

#include "simulation/setup.hpp"

namespace sessionq::simulation {
namespace {

using Random = core::Random;

bool chance(Random& random, unsigned percent) { return random.below(100) < percent; }

template <typename T, std::size_t N>
T one_of(Random& random, const std::array<T, N>& values) {
    return values[random.below(N)];
}

FailurePolicy some_policy(Random& random) {
    FailurePolicy policy;
    policy.action = static_cast<FailurePolicy::Action>(random.below(4));
    policy.park_for = milliseconds{random.below(2000)};
    if (chance(random, 50)) {
        policy.abandon_delay = FailurePolicy::abandon_at_once().abandon_delay;
    } else {
        policy.abandon_delay = {.min = milliseconds{1 + random.below(500)}, .max = seconds{2}};
    }
    if (chance(random, 50)) {
        policy =
            policy.after_attempts(static_cast<std::uint32_t>(1 + random.below(4)),
                                  {.min = milliseconds{1 + random.below(200)}, .max = seconds{1}});
    }
    return policy;
}

/// What every scenario starts from: no faults, and every choice open.
Setup calm(Random& random) {
    Setup setup;
    SessionProcessorOptions& options = setup.options;
    options.max_concurrent_sessions = static_cast<std::uint32_t>(1 + random.below(8));
    options.max_concurrent_calls_per_session =
        chance(random, 60) ? 1 : static_cast<std::uint32_t>(2 + random.below(15));
    options.max_concurrent_calls =
        chance(random, 30) ? static_cast<std::uint32_t>(1 + random.below(4)) : 0;
    options.session_idle_timeout =
        one_of(random, std::array<Duration, 5>{Duration::zero(), milliseconds{1}, milliseconds{50},
                                               seconds{1}, seconds{5}});
    options.max_hold =
        chance(random, 70) ? std::optional<Duration>{Duration::zero()} : std::nullopt;
    options.prefetch = chance(random, 50) ? 0 : static_cast<std::uint32_t>(1 + random.below(5));
    // of messages of a MiB, which are expected until some have come: none, 64, more than enough
    constexpr std::size_t mebibytes = std::size_t{1} << 20U;
    options.max_buffered_bytes = one_of(
        random, std::array{mebibytes / 16, 64 * mebibytes, 65536 * mebibytes, 65536 * mebibytes});
    options.accept_wait =
        one_of(random, std::array<Duration, 3>{seconds{1}, seconds{5}, seconds{60}});
    options.max_parked_sessions =
        one_of(random, std::array<std::uint32_t, 4>{0, 1, 3, options.max_parked_sessions});
    options.confirm_settlements =
        options.max_concurrent_calls_per_session == 1 && chance(random, 25);
    options.error_backoff = {
        .min = milliseconds{100},
        .max = one_of(random, std::array<Duration, 3>{seconds{1}, seconds{5}, seconds{30}})};
    setup.loops = 1 + random.below(2);
    setup.workers = 1 + random.below(options.max_concurrent_calls_per_session == 1 ? 5 : 12);
    setup.sessions = 3 + random.below(12);
    setup.messages = 1 + random.below(10);
    setup.arrivals_over =
        chance(random, 30) ? Duration::zero() : Duration{milliseconds{random.below(10'000)}};
    setup.lock_length =
        one_of(random, std::array<Duration, 3>{seconds{5}, seconds{10}, seconds{30}});
    setup.message_bytes = one_of(random, std::array<std::size_t, 3>{200, 4'000, 20'000});
    setup.coroutines = chance(random, 35);
    setup.open_handler = chance(random, 30);
    setup.close_handler = chance(random, 30);
    setup.stop_twice = chance(random, 20);
    setup.stop_within = one_of(random, std::array<Duration, 4>{Duration::zero(), milliseconds{100},
                                                               seconds{2}, seconds{20}});
    setup.destroy_without_stop = chance(random, 10);
    if (chance(random, 20)) {
        setup.faults.latency_low = milliseconds{0};
        setup.faults.latency_high = milliseconds{chance(random, 50) ? 0 : 200};
    }
    return setup;
}

void mixed_handlers(Setup& setup, Random& random) {
    setup.scripts.throws = static_cast<unsigned>(random.below(20));
    setup.scripts.settles = static_cast<unsigned>(random.below(20));
    setup.scripts.settles_again = 50;
    setup.scripts.calls_release = chance(random, 30) ? 3 : 0;
    setup.scripts.exactly_idle = chance(random, 30) ? 10 : 0;
    setup.scripts.hangs = chance(random, 20) ? 1 : 0;
    setup.scripts.until_stopped = chance(random, 20) ? 1 : 0;
    setup.scripts.takes_high =
        one_of(random, std::array<Duration, 3>{milliseconds{20}, milliseconds{500}, seconds{8}});
    setup.open_throws = chance(random, 20) ? 10 : 0;
    setup.options.failure_policy = some_policy(random);
}

void every_fault(Setup& setup, Random& random) {
    Faults& faults = setup.faults;
    const auto sometimes = [&](unsigned& rate, unsigned high) {
        rate = chance(random, 30) ? static_cast<unsigned>(1 + random.below(high)) : 0;
    };
    const auto every = [&](Duration& mean) {
        mean = chance(random, 30) ? Duration{milliseconds{500 + random.below(8000)}}
                                  : Duration::zero();
    };
    for (unsigned* rate :
         {&faults.accept_refused, &faults.accept_mute, &faults.accept_slow, &faults.accept_empty,
          &faults.drain_slow, &faults.drain_mute, &faults.close_slow, &faults.renew_slow,
          &faults.renew_failed, &faults.settle_slow, &faults.half_open}) {
        sometimes(*rate, 40);
    }
    for (unsigned* rate :
         {&faults.detach_on_transfer, &faults.detach_on_settle, &faults.detach_after_settle,
          &faults.settle_refused, &faults.renew_refused}) {
        sometimes(*rate, 8);
    }
    every(faults.detach_every);
    every(faults.disconnect_every);
    every(faults.busy_every);
    faults.busy_high = seconds{5};
    faults.outage_high = seconds{random.below(10)};
}

void limits_bound(Setup& setup, Random& random) {
    if (chance(random, 20)) {
        setup.options.max_hold = milliseconds{50 + random.below(3000)};
    }
    if (chance(random, 20)) {
        setup.options.max_messages_per_turn = static_cast<std::uint32_t>(1 + random.below(5));
    }
}

BatchOptions some_batches(Random& random) {
    return {.max_messages = one_of(random, std::array<std::uint32_t, 4>{2, 3, 5, 100}),
            .max_wait = one_of(random, std::array<Duration, 5>{Duration::zero(), Duration::zero(),
                                                               milliseconds{1}, milliseconds{200},
                                                               seconds{3}})};
}

using Change = void (*)(Setup&, Random&);

const std::vector<std::pair<std::string, Change>>& scenarios() {
    static const std::vector<std::pair<std::string, Change>> all{
        {"random",
         [](Setup& s, Random& r) {
             every_fault(s, r);
             mixed_handlers(s, r);
             limits_bound(s, r);
             s.entities = 1 + r.below(2);
             s.foreign = r.below(2);
             s.ties = chance(r, 20);
             s.stop_early = chance(r, 20);
             s.limits_every = chance(r, 20) ? Duration{seconds{2}} : Duration::zero();
             s.pauses_every = chance(r, 15) ? Duration{seconds{2}} : Duration::zero();
             s.options.auto_complete = chance(r, 85);
             s.options.receive_and_delete = chance(r, 5);
         }},
        {"steady",
         [](Setup& s, Random& r) {
             s.quiet = true;
             s.stop_early = chance(r, 30);
             s.messages = s.stop_early ? 40 : s.messages;
         }},
        {"steady_hour", // nothing is told of its health
         [](Setup& s, Random& r) {
             s.quiet = true;
             s.messages = 5 + r.below(10);
             s.options.accept_wait = seconds{60};
             s.arrivals_over = s.trouble_for = std::chrono::hours{1};
         }},
        {"one_message_sessions",
         [](Setup& s, Random& r) {
             s.sessions = 30 + r.below(50);
             s.messages = 1;
             s.options.session_idle_timeout = Duration::zero();
         }},
        {"idle_ties",
         [](Setup& s, Random& r) {
             s.ties = true;
             s.options.session_idle_timeout =
                 one_of(r, std::array<Duration, 3>{milliseconds{1}, milliseconds{50}, seconds{1}});
             s.scripts.exactly_idle = 30;
             s.messages = 3;
         }},
        {"lossy_links",
         [](Setup& s, Random& r) {
             s.faults.detach_every = milliseconds{300 + r.below(3000)};
             s.faults.detach_on_transfer = static_cast<unsigned>(r.below(5));
             s.faults.detach_on_settle = static_cast<unsigned>(r.below(5));
             s.faults.detach_after_settle = static_cast<unsigned>(r.below(5));
             s.faults.half_open = chance(r, 30) ? 30 : 0;
         }},
        {"lock_expiry",
         [](Setup& s, Random& r) {
             s.lock_length = seconds{2 + r.below(4)};
             s.faults.renew_slow = static_cast<unsigned>(r.below(50));
             s.faults.renew_failed = static_cast<unsigned>(r.below(90));
             s.faults.renew_refused = static_cast<unsigned>(r.below(10));
             s.faults.accept_slow = static_cast<unsigned>(r.below(30));
             s.scripts.instant = 20;
             s.scripts.takes_high = seconds{6};
             s.options.max_lock_renewal = chance(r, 30) ? Duration{seconds{3}} : Duration::zero();
         }},
        {"slow_handlers",
         [](Setup& s, Random& r) {
             s.options.session_idle_timeout = milliseconds{r.below(1000)};
             s.lock_length = seconds{3};
             s.messages = 3;
             s.scripts.instant = 30;
             s.scripts.takes_high = seconds{8};
             s.scripts.exactly_idle = 20;
             s.scripts.until_stopped = chance(r, 30) ? 5 : 0;
             s.scripts.hangs = chance(r, 30) ? 3 : 0;
         }},
        {"failing_handlers",
         [](Setup& s, Random& r) {
             s.scripts.throws = static_cast<unsigned>(10 + r.below(60));
             s.scripts.settles = static_cast<unsigned>(r.below(30));
             s.scripts.settles_again = 30;
             s.open_throws = static_cast<unsigned>(r.below(20));
             s.options.failure_policy = some_policy(r);
             s.options.auto_complete = chance(r, 60);
         }},
        {"failing_opens",
         [](Setup& s, Random& r) {
             s.faults.latency_low = milliseconds{1};
             s.faults.latency_high = milliseconds{5};
             s.open_handler = true;
             s.open_throws = static_cast<unsigned>(20 + r.below(70));
             s.options.receive_and_delete = chance(r, 10);
             s.locks_last = true;
         }},
        {"abandon_order",
         [](Setup& s, Random& r) {
             s.options.max_concurrent_calls_per_session = 1;
             s.options.failure_policy = FailurePolicy::abandon_at_once();
             s.options.prefetch = static_cast<std::uint32_t>(r.below(10));
             s.scripts.throws = 30;
             s.messages = 12;
         }},
        {"several_calls",
         [](Setup& s, Random& r) {
             s.options.max_concurrent_calls_per_session =
                 static_cast<std::uint32_t>(1 + r.below(16));
             s.workers = 2 + r.below(15);
             s.options.failure_policy =
                 chance(r, 20) ? FailurePolicy::retry_later(
                                     {milliseconds{5 + r.below(1000)}, milliseconds{500}})
                               : some_policy(r);
             s.options.prefetch = chance(r, 60) ? 0 : static_cast<std::uint32_t>(1 + r.below(20));
             s.options.auto_complete = chance(r, 85);
             s.scripts.throws = static_cast<unsigned>(2 + r.below(30));
             s.scripts.settles = static_cast<unsigned>(r.below(20));
             s.scripts.takes_high =
                 one_of(r, std::array<Duration, 3>{milliseconds{5}, milliseconds{100}, seconds{2}});
             s.sessions = 1 + r.below(6);
             s.messages = 5 + r.below(30);
             s.deaths_every = chance(r, 15) ? Duration{seconds{2}} : Duration::zero();
             s.faults.detach_every = chance(r, 15) ? Duration{seconds{3}} : Duration::zero();
             s.pauses_every = chance(r, 15) && s.deaths_every == Duration::zero()
                                  ? Duration{seconds{2}}
                                  : Duration::zero();
             s.stop_early = chance(r, 15);
             limits_bound(s, r);
         }},
        {"batches",
         [](Setup& s, Random& r) {
             s.batches = some_batches(r);
             s.options.max_concurrent_calls_per_session =
                 chance(r, 70) ? 1 : static_cast<std::uint32_t>(2 + r.below(15));
             s.options.failure_policy = some_policy(r);
             s.options.prefetch = chance(r, 70) ? 0 : static_cast<std::uint32_t>(1 + r.below(5));
             s.options.auto_complete = chance(r, 75);
             s.options.receive_and_delete = chance(r, 10);
             s.scripts.throws = static_cast<unsigned>(r.below(30));
             s.scripts.settles = static_cast<unsigned>(r.below(30));
             s.scripts.settles_again = 10;
             s.scripts.takes_high = milliseconds{500};
             s.messages = 15;
             s.arrivals_over = Duration{milliseconds{r.below(10'000)}};
             s.faults.detach_every = chance(r, 20) ? Duration{seconds{3}} : Duration::zero();
             s.pauses_every = chance(r, 15) ? Duration{seconds{2}} : Duration::zero();
             s.stop_early = chance(r, 15);
             limits_bound(s, r);
         }},
        {"late_accepts",
         [](Setup& s, Random& r) {
             s.faults.accept_slow = static_cast<unsigned>(20 + r.below(60));
             s.faults.accept_mute = static_cast<unsigned>(r.below(30));
             s.options.accept_wait = milliseconds{200 + r.below(800)};
             s.limits_every = chance(r, 30) ? Duration{seconds{2}} : Duration::zero();
         }},
        {"drain_chaos",
         [](Setup& s, Random& r) {
             s.faults.drain_slow = static_cast<unsigned>(r.below(80));
             s.faults.drain_mute = static_cast<unsigned>(r.below(20));
             s.options.session_idle_timeout = milliseconds{r.below(100)};
             s.scripts.throws = 10;
             s.arrivals_over = seconds{10};
         }},
        {"outage",
         [](Setup& s, Random& r) {
             s.faults.disconnect_every = seconds{2 + r.below(5)};
             s.faults.outage_high = seconds{15};
         }},
        {"server_busy",
         [](Setup& s, Random& r) {
             s.faults.busy_every = seconds{1 + r.below(3)};
             s.faults.busy_high = seconds{10};
             s.faults.accept_refused = static_cast<unsigned>(r.below(60));
         }},
        {"stop_anytime",
         [](Setup& s, Random& r) {
             every_fault(s, r);
             mixed_handlers(s, r);
             s.stop_early = true;
             s.scripts.hangs = chance(r, 50) ? 5 : 0;
             s.scripts.until_stopped = chance(r, 50) ? 5 : 0;
             s.scripts.calls_stop = chance(r, 30) ? 2 : 0;
             s.pauses_every = chance(r, 30) ? Duration{seconds{1}} : Duration::zero();
         }},
        {"limits_change",
         [](Setup& s, Random& r) {
             s.limits_every = milliseconds{200 + r.below(2000)};
             s.scripts.changes_limits = static_cast<unsigned>(r.below(5));
             s.sessions = 20;
         }},
        {"huge_and_small",
         [](Setup& s, Random& r) {
             s.huge_messages = 300;
             s.sessions = 12;
             s.messages = 1 + r.below(3);
             s.scripts.instant = 90;
             s.options.max_concurrent_sessions = static_cast<std::uint32_t>(2 + r.below(6));
             limits_bound(s, r);
         }},
        {"many_entities",
         [](Setup& s, Random& r) {
             s.entities = 2 + r.below(5);
             s.sessions = 1 + r.below(4);
             s.options.accept_wait = seconds{1 + r.below(5)};
             s.pauses_every = chance(r, 20) ? Duration{seconds{2}} : Duration::zero();
         }},
        {"named_sessions",
         [](Setup& s, Random& r) {
             s.sessions = 2 + r.below(6);
             for (std::size_t i = 0; i < s.sessions; ++i) {
                 s.options.session_ids.push_back("e0-s" + std::to_string(i));
             }
             s.foreign = r.below(2);
             s.faults.detach_every = chance(r, 40) ? Duration{seconds{2}} : Duration::zero();
             s.pauses_every = chance(r, 30) ? Duration{seconds{2}} : Duration::zero();
         }},
        {"tight_budget",
         [](Setup& s, Random& r) {
             s.options.max_concurrent_sessions = 8;
             s.options.prefetch = chance(r, 50) ? 0 : 64;
             s.options.max_buffered_bytes = std::size_t{64} << 10U;
             s.message_bytes = 4'000 + r.below(8'000);
             s.messages = 60;
             s.sessions = 8;
             s.arrivals_over = Duration::zero();
         }},
        {"long_handlers",
         [](Setup& s, Random& r) {
             s.faults.latency_low = milliseconds{1};
             s.faults.latency_high = milliseconds{5};
             s.lock_length = seconds{3 + r.below(4)};
             s.messages = 1 + r.below(4);
             s.scripts.instant = 50;
             s.scripts.outlives_lock = 30;
             s.options.max_lock_renewal = chance(r, 40)
                                              ? s.lock_length * static_cast<int>(1 + r.below(2))
                                              : Duration::zero();
             s.locks_last = true;
         }},
        {"parked_sessions",
         [](Setup& s, Random& r) {
             s.faults.latency_low = milliseconds{1};
             s.faults.latency_high = milliseconds{5};
             s.lock_length = seconds{2 + r.below(3)};
             s.scripts.throws = static_cast<unsigned>(10 + r.below(50));
             s.scripts.instant = 40;
             s.scripts.takes_high = seconds{1 + r.below(5)};
             s.options.max_concurrent_calls_per_session =
                 static_cast<std::uint32_t>(1 + r.below(16));
             s.options.failure_policy =
                 FailurePolicy::park_session(seconds{1 + r.below(12)}); // longer than locks
             s.stop_early = chance(r, 30);
             s.locks_last = true;
         }},
        {"receive_and_delete",
         [](Setup& s, Random& r) {
             s.options.receive_and_delete = true;
             s.faults.accept_slow = chance(r, 30) ? static_cast<unsigned>(r.below(30)) : 0;
             s.pauses_every = chance(r, 20) ? Duration{seconds{2}} : Duration::zero();
         }},
        {"killed_consumers",
         [](Setup& s, Random& r) {
             s.deaths_every =
                 chance(r, 70) ? Duration{milliseconds{200 + r.below(4000)}} : Duration::zero();
             s.scripts.kills_once = static_cast<unsigned>(r.below(10)); // before or amid others
             s.scripts.throws = static_cast<unsigned>(r.below(30));
             s.scripts.settles = static_cast<unsigned>(r.below(20));
             s.scripts.takes_high = milliseconds{500};
             s.options.failure_policy = some_policy(r);
             s.options.auto_complete = chance(r, 85);
             s.messages = 1 + r.below(15);
             s.faults.detach_every = chance(r, 20) ? Duration{seconds{3}} : Duration::zero();
             s.dead_high = chance(r, 50) ? Duration{milliseconds{1}} : Duration{seconds{5}};
         }},
        {"delayed_retries",
         [](Setup& s, Random& r) {
             s.options.max_concurrent_calls_per_session =
                 chance(r, 60) ? 1 : static_cast<std::uint32_t>(2 + r.below(15));
             s.options.failure_policy = FailurePolicy::retry_later(
                 {milliseconds{200 + r.below(3000)}, milliseconds{1000 + r.below(4000)}});
             s.scripts.throws = static_cast<unsigned>(5 + r.below(30));
             s.deaths_every =
                 chance(r, 60) ? Duration{milliseconds{200 + r.below(4000)}} : Duration::zero();
             s.faults.detach_every = chance(r, 20) ? Duration{seconds{3}} : Duration::zero();
             if (s.options.max_concurrent_calls_per_session == 1 && chance(r, 30)) {
                 s.options.crash_guard = CrashGuard{};
             }
         }},
        {"guarded_consumers",
         [](Setup& s, Random& r) {
             s.options.max_concurrent_calls_per_session = 1;
             s.options.crash_guard =
                 CrashGuard{.deaths = static_cast<std::uint32_t>(2 + r.below(3)),
                            .every_session = chance(r, 15)};
             s.options.failure_policy = chance(r, 70)
                                            ? FailurePolicy::abandon_at_once()
                                            : FailurePolicy::park_session(milliseconds{500});
             s.scripts.kills = static_cast<unsigned>(1 + r.below(15));
             s.scripts.kills_once = chance(r, 30) ? 5 : 0;
             s.scripts.throws = chance(r, 50) ? static_cast<unsigned>(r.below(30)) : 0;
             s.scripts.takes_high = milliseconds{1 + r.below(500)};
             s.deaths_every = chance(r, 20) ? Duration{seconds{2}} : Duration::zero();
             s.faults.detach_every = chance(r, 20) ? Duration{seconds{3}} : Duration::zero();
             s.sessions = 2 + r.below(6);
             s.messages = 1 + r.below(5);
             s.lock_length = seconds{3 + r.below(5)};
         }},
        {"pauses",
         [](Setup& s, Random& r) {
             s.faults.latency_low = milliseconds{1};
             s.faults.latency_high = milliseconds{5};
             s.lock_length = seconds{2 + r.below(5)};
             s.pauses_every = milliseconds{50 + r.below(5'000)};
             s.entities = 1 + r.below(3);
             s.messages = 1 + r.below(20);
             s.scripts.pauses = static_cast<unsigned>(r.below(3));
             s.scripts.throws = static_cast<unsigned>(r.below(40));
             s.scripts.takes_high = one_of(
                 r, std::array<Duration, 3>{milliseconds{20}, milliseconds{500}, seconds{5}});
             s.options.failure_policy = chance(r, 50)
                                            ? FailurePolicy::park_session(seconds{1 + r.below(12)})
                                            : some_policy(r);
             s.limits_every = chance(r, 25) ? Duration{seconds{2}} : Duration::zero();
             s.stop_early = chance(r, 25);
             s.locks_last = true;
         }},
    };
    return all;
}

} // namespace

const std::vector<std::string>& scenario_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> made;
        for (const auto& [name, change] : scenarios()) {
            made.push_back(name);
        }
        return made;
    }();
    return names;
}

Setup make_setup(const std::string& scenario, Random& random) {
    for (const auto& [name, change] : scenarios()) {
        if (name == scenario) {
            Setup setup = calm(random);
            change(setup, random);
            if (setup.options.receive_and_delete) { // nothing is settled
                setup.options.confirm_settlements = false;
                setup.options.auto_complete = true;
                setup.options.failure_policy.action = FailurePolicy::Action::abandon;
            }
            if (setup.options.max_concurrent_calls_per_session != 1) {
                setup.options.confirm_settlements = false;
            }
            if (chance(random, 30)) {
                setup.batches = some_batches(random);
            }
            return setup;
        }
    }
    throw std::invalid_argument{scenario};
}

} // namespace sessionq::simulation
