// SPDX-License-Identifier: MIT
// What slots cost beside the best case: sessions that appear at 16 entities instead of one, and
// good sessions beside parked ones.
#include <atomic>
#include <future>
#include <random>
#include <stdexcept>
#include <thread>

#include "bench/network_case.hpp"

namespace {

using namespace std::chrono_literals;
using namespace sessionq;
using namespace sessionq::bench;

constexpr std::size_t sessions = 10'000;

std::string entity_name(std::size_t index) { return queue + std::to_string(index); }

std::vector<std::string> entity_names(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
        names.push_back(entity_name(i));
    }
    return names;
}

/// One-message sessions that appear at random entities, at a steady rate; the time from ready to
/// handled. `range(0)` entities, `range(1)` sessions a second.
void entities(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    const std::vector<std::string> names = entity_names(count);
    std::vector<std::string> arguments{"--listen", "127.0.0.1:0"};
    for (const std::string& name : names) {
        arguments.insert(arguments.end(), {"--queue", name + ":session:lock=60"});
    }
    for (auto _ : state) {
        const test::DaemonProcess daemon{SESSIONQD, arguments};
        const Client client = Client::connect(daemon.connection_string());
        std::vector<double> waits(sessions);
        std::atomic<std::size_t> handled{0};
        std::promise<void> done;
        SessionProcessor processor{client,
                                   names,
                                   {.max_concurrent_sessions = session_registry,
                                    .session_idle_timeout = Duration::zero()}};
        std::atomic<std::size_t> warm{0};
        processor.on_message([&](MessageContext& context) {
            if (context.message().text().empty()) {
                ++warm;
                return;
            }
            const Clock::time_point sent{
                Clock::duration{std::stoll(std::string{context.message().text()})}};
            const std::size_t index = handled.fetch_add(1, std::memory_order_relaxed);
            waits[index] = seconds_between(sent, Clock::now()) * 1e6;
            if (index + 1 == sessions) {
                done.set_value();
            }
        });
        processor.start();
        std::vector<Sender> senders;
        for (const std::string& name : names) {
            senders.emplace_back(client, name);
            senders.back().send(Message::of("").in_session("first"));
        }
        while (warm != count) {
            std::this_thread::sleep_for(10ms);
        }
        std::this_thread::sleep_for(1s); // accepts stand
        std::minstd_rand random{1};
        const auto begin = Clock::now();
        for (std::size_t i = 0; i < sessions; ++i) {
            std::this_thread::sleep_until(begin + i * (1s / static_cast<double>(state.range(1))));
            senders[random() % count].send(
                Message::of(std::to_string(Clock::now().time_since_epoch().count()))
                    .in_session("s" + std::to_string(i)));
        }
        if (done.get_future().wait_for(patience) != std::future_status::ready) {
            state.SkipWithError("not all sessions were handled");
            return;
        }
        state.SetIterationTime(seconds_between(begin, Clock::now()));
        figures_of(state, std::move(waits));
        const ProcessorCounters counters = processor.counters();
        state.counters["given_back_percent"] =
            100.0 * static_cast<double>(counters.surplus_accepts + counters.late_accepts) /
            static_cast<double>(sessions);
        processor.stop(10s);
    }
}
BENCHMARK(entities)
    ->ArgsProduct({{1, 16}, {1'000, 3'000}})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

/// Good sessions of one message each beside `range(0)` parked ones.
void beside_parked(benchmark::State& state) {
    const auto parked = static_cast<std::size_t>(state.range(0));
    const std::string of_case = "beside_parked/" + std::to_string(parked);
    for (auto _ : state) {
        const test::DaemonProcess daemon = start_daemon(60s);
        const Client client = Client::connect(daemon.connection_string());
        std::atomic<std::size_t> handled{0};
        std::promise<void> done;
        SessionProcessor processor{client,
                                   queue,
                                   {.max_concurrent_sessions = session_registry,
                                    .session_idle_timeout = Duration::zero(),
                                    .failure_policy = FailurePolicy::park_session(1h)}};
        processor.on_message([&](MessageContext& context) {
            if (context.message().text() == "bad") {
                throw std::runtime_error{"bad"};
            }
            if (handled.fetch_add(1, std::memory_order_relaxed) + 1 == sessions) {
                done.set_value();
            }
        });
        processor.start();
        Sender sender{client, queue};
        for (std::size_t i = 0; i < parked; ++i) {
            sender.send(Message::of("bad").in_session("bad" + std::to_string(i)));
        }
        while (processor.counters().sessions_parked != parked) {
            std::this_thread::sleep_for(10ms);
        }
        const auto begin = Clock::now();
        fill(client, sessions, sessions, 16);
        if (done.get_future().wait_for(patience) != std::future_status::ready) {
            state.SkipWithError("not all sessions were handled");
            return;
        }
        const double seconds = seconds_between(begin, Clock::now());
        state.SetIterationTime(seconds);
        rates()[of_case]["sessionq"].push_back(static_cast<double>(sessions) / seconds);
        processor.stop(10s);
    }
    figure(state, "sessions/s", median(rates()[of_case]["sessionq"]));
}
BENCHMARK(beside_parked)
    ->Arg(0)
    ->Arg(1'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);

} // namespace
