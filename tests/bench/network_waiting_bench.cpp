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

// The default lock duration of Service Bus. Locks are renewed ten seconds before they expire, so
// this time holds one renewal of each.
constexpr auto lock = 60s;
constexpr auto watched = 50s;

/// Bytes per session in client and broker, threads, and processor share while only renewals happen.
void waiting_sessionq(benchmark::State& state) {
    const auto sessions = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) {
        const test::DaemonProcess daemon = start_daemon(lock);
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
        const auto begin = Clock::now();
        processor.start();
        if (done.get_future().wait_for(1min) != std::future_status::ready) {
            state.SkipWithError("not all sessions were accepted");
            return;
        }
        state.SetIterationTime(seconds_between(begin, Clock::now()));
        std::this_thread::sleep_for(1s); // for settlements
        figure(state, "client_bytes/session",
               (bytes_in_use() - before) / static_cast<double>(sessions));
        figure(state, "broker_bytes/session",
               static_cast<double>(process_status(daemon.id(), "VmRSS") - broker_before) * 1024 /
                   static_cast<double>(sessions));
        figure(state, "client_threads", static_cast<double>(process_status(::getpid(), "Threads")));
        figure(state, "broker_threads",
               static_cast<double>(process_status(daemon.id(), "Threads")));
        const double used = processor_seconds(::getpid());
        const double broker_used = processor_seconds(daemon.id());
        const std::uint64_t renewals = processor.counters().lock_renewals;
        std::this_thread::sleep_for(watched);
        const double length = std::chrono::duration<double>(watched).count();
        figure(state, "client_idle_core_percent",
               100 * (processor_seconds(::getpid()) - used) / length);
        figure(state, "broker_idle_core_percent",
               100 * (processor_seconds(daemon.id()) - broker_used) / length);
        figure(state, "renewals/session",
               static_cast<double>(processor.counters().lock_renewals - renewals) /
                   static_cast<double>(sessions));
        processor.stop(30s);
    }
}
BENCHMARK(waiting_sessionq)
    ->Arg(10'000)
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
