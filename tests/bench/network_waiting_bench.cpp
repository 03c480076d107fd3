// SPDX-License-Identifier: MIT
// The cost of locked sessions without messages for the client, and of the broker without clients.
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "bench/network_case.hpp"
#include "bench/process.hpp"

namespace {

using namespace std::chrono_literals;
using namespace sessionq;
using namespace sessionq::bench;

double bytes_in_use() {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

// Locks are renewed ten seconds before they expire, so `renewing` holds one renewal of each.
constexpr auto lock = 30s;
constexpr auto renewing = 20s;
constexpr auto resting = 2s; // no lock is renewed so soon

/// Processor seconds that the client and the broker have used.
struct Used {
    double client;
    double broker;

    static Used by(const test::DaemonProcess& daemon) {
        return {.client = processor_seconds(::getpid()), .broker = processor_seconds(daemon.id())};
    }
    Used operator-(const Used& before) const {
        return {.client = client - before.client, .broker = broker - before.broker};
    }
};

/// Processor time of one session, for a step that each of them has taken.
void figures_of_step(benchmark::State& state, const std::string& step, const Used& used,
                     double steps) {
    figure(state, "client_us/" + step, used.client * 1e6 / steps);
    figure(state, "broker_us/" + step, used.broker * 1e6 / steps);
}

/// Sessions that wait for messages: what each takes to be accepted, renewed and left, its bytes in
/// client and broker, and the processor's share while nothing happens. Figures of one session that
/// do not grow with the sessions show that the whole is linear.
void waiting_sessionq(benchmark::State& state) {
    const auto sessions = static_cast<std::size_t>(state.range(0));
    const auto each = static_cast<double>(sessions);
    for (auto _ : state) {
        // 36 MiB, as by default, are for the links of 15,000 sessions.
        const test::DaemonProcess daemon = start_daemon(lock, {"--memory", "512"});
        const Client client = Client::connect(daemon.connection_string());
        fill(client, sessions, sessions, 16);
        ::malloc_trim(0);
        const double before = bytes_in_use();
        const long broker_before = process_status(daemon.id(), "VmRSS");
        std::atomic<std::size_t> left{sessions};
        std::promise<void> done;
        SessionProcessor processor{client,
                                   queue,
                                   {.max_concurrent_sessions = static_cast<std::uint32_t>(sessions),
                                    .session_idle_timeout = Duration::max()}};
        processor.on_message([&](MessageContext&) {
            if (left.fetch_sub(1, std::memory_order_relaxed) == 1) {
                done.set_value();
            }
        });

        const Used at_start = Used::by(daemon);
        const auto begin = Clock::now();
        processor.start();
        if (done.get_future().wait_for(1min) != std::future_status::ready) {
            state.SkipWithError("not all sessions were accepted");
            return;
        }
        state.SetIterationTime(seconds_between(begin, Clock::now()));
        std::this_thread::sleep_for(1s); // for settlements
        figures_of_step(state, "accept", Used::by(daemon) - at_start, each);
        figure(state, "client_bytes/session", (bytes_in_use() - before) / each);
        figure(state, "broker_bytes/session",
               static_cast<double>(process_status(daemon.id(), "VmRSS") - broker_before) * 1024 /
                   each);
        figure(state, "client_threads", static_cast<double>(process_status(::getpid(), "Threads")));
        figure(state, "broker_threads",
               static_cast<double>(process_status(daemon.id(), "Threads")));

        const Used at_rest = Used::by(daemon);
        std::this_thread::sleep_for(resting);
        const Used rest = Used::by(daemon) - at_rest;
        const double length = std::chrono::duration<double>(resting).count();
        state.counters["client_idle_core_percent"] = 100 * rest.client / length; // may be zero
        state.counters["broker_idle_core_percent"] = 100 * rest.broker / length;

        const std::uint64_t renewals_before = processor.counters().lock_renewals;
        const Used at_renewals = Used::by(daemon);
        std::this_thread::sleep_for(renewing);
        const auto renewals =
            static_cast<double>(processor.counters().lock_renewals - renewals_before);
        figure(state, "renewals/session", renewals / each);
        figures_of_step(state, "renewal", Used::by(daemon) - at_renewals, renewals);

        const Used at_stop = Used::by(daemon);
        const auto stop = Clock::now();
        const bool is_complete = processor.stop(30s).complete;
        if (!is_complete) {
            state.SkipWithError("not all sessions were left");
            return;
        }
        figure(state, "stop_ms", seconds_between(stop, Clock::now()) * 1e3);
        figures_of_step(state, "stop", Used::by(daemon) - at_stop, each);
    }
}
BENCHMARK(waiting_sessionq)
    ->Arg(1'000)
    ->Arg(3'000)
    ->Arg(10'000)
    ->Arg(30'000)
    ->Arg(100'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

void waiting_javascript(benchmark::State& state) {
    const auto sessions = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) {
        const test::DaemonProcess daemon = start_daemon();
        fill(Client::connect(daemon.connection_string()), sessions, sessions, 16);
        const auto begin = Clock::now();
        const auto said = run_client(state, "javascript", daemon.connection_string(),
                                     {"waiting", queue, std::to_string(sessions)});
        if (!said) {
            return;
        }
        state.SetIterationTime(seconds_between(begin, Clock::now()));
        figure(state, "client_bytes/session", said->at("bytes"));
    }
}
BENCHMARK(waiting_javascript)
    ->Arg(1'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

void sessionqd_start(benchmark::State& state) {
    for (auto _ : state) {
        const test::DaemonProcess daemon = start_daemon();
        state.SetIterationTime(daemon.start_seconds());
        figure(state, "resident_KiB", static_cast<double>(process_status(daemon.id(), "VmRSS")));
    }
}
BENCHMARK(sessionqd_start)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(10);

} // namespace
