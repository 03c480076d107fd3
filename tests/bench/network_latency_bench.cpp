// SPDX-License-Identifier: MIT
// The latency of a single session or message through broker and handler.
#include <future>
#include <thread>

#include "bench/network_case.hpp"

namespace {

using namespace std::chrono_literals;
using namespace sessionq;
using namespace sessionq::bench;

/// Measures the time until `done`. Returns false on a timeout.
bool time_until(benchmark::State& state, Clock::time_point begin, std::future<void> done) {
    if (done.wait_for(patience) != std::future_status::ready) {
        state.SkipWithError("not all messages were handled");
        return false;
    }
    state.SetIterationTime(seconds_between(begin, Clock::now()));
    return true;
}

void tell_percentiles(benchmark::State& state, const nlohmann::json& said) {
    for (const auto& [name, of_client] :
         {std::pair{"p50_us", "p50"}, {"p99_us", "p99"}, {"p99.9_us", "p999"}}) {
        figure(state, name, said.at(of_client).get<double>());
    }
}

/// With one slot: from the end of one session's handler to the start of the next one's.
void roll_latency_sessionq(benchmark::State& state) {
    constexpr std::size_t sessions = 5'000;
    for (auto _ : state) {
        const test::DaemonProcess daemon = start_daemon();
        const Client client = Client::connect(daemon.connection_string());
        fill(client, sessions, sessions, 256);
        std::vector<double> gaps;
        std::optional<Clock::time_point> ended;
        std::promise<void> done;
        SessionProcessor processor{
            client,
            queue,
            {.max_concurrent_sessions = 1, .session_idle_timeout = 0s, .worker_threads = 1}};
        processor.on_message([&](MessageContext&) {
            if (ended) {
                gaps.push_back(seconds_between(*ended, Clock::now()) * 1e6);
            }
            if (gaps.size() + 1 == sessions) {
                done.set_value();
            }
            ended = Clock::now();
        });
        const auto begin = Clock::now();
        processor.start();
        const bool is_done = time_until(state, begin, done.get_future());
        processor.stop(10s);
        if (!is_done) {
            return;
        }
        figures_of(state, gaps);
    }
}
BENCHMARK(roll_latency_sessionq)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

void roll_latency_javascript(benchmark::State& state) {
    constexpr std::size_t sessions = 500;
    for (auto _ : state) {
        const test::DaemonProcess daemon = start_daemon();
        fill(Client::connect(daemon.connection_string()), sessions + 1, sessions + 1, 256);
        const auto said = run_client(state, "javascript", daemon.connection_string(),
                                     {"rolling", queue, "1", "1", std::to_string(sessions)});
        if (!said) {
            return;
        }
        state.SetIterationTime(said->at("seconds"));
        tell_percentiles(state, *said);
    }
}
BENCHMARK(roll_latency_javascript)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

// One message at a time

constexpr std::size_t paced = 5'000;

double unix_microseconds() {
    return std::chrono::duration<double, std::micro>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// Sends a thousand messages a second, each with its send time.
void send_paced(const Client& client) {
    Sender sender{client, queue};
    auto next = Clock::now();
    for (std::size_t i = 0; i < paced; ++i) {
        std::this_thread::sleep_until(next += 1ms);
        sender.send(Message::of(std::to_string(unix_microseconds())).in_session("one"));
    }
}

void latency_sessionq(benchmark::State& state) {
    for (auto _ : state) {
        const test::DaemonProcess daemon = start_daemon();
        const Client sending = Client::connect(daemon.connection_string());
        const Client client = Client::connect(daemon.connection_string());
        std::vector<double> taken;
        std::promise<void> done;
        SessionProcessor processor{
            client,
            queue,
            {.max_concurrent_sessions = 1, .session_idle_timeout = 10s, .worker_threads = 1}};
        processor.on_message([&](MessageContext& call) {
            taken.push_back(unix_microseconds() - std::stod(std::string{call.message().text()}));
            if (taken.size() == paced) {
                done.set_value();
            }
        });
        processor.start();
        const auto begin = Clock::now();
        send_paced(sending);
        const bool is_done = time_until(state, begin, done.get_future());
        processor.stop(10s);
        if (!is_done) {
            return;
        }
        figures_of(state, taken);
    }
}
BENCHMARK(latency_sessionq)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

void latency_javascript(benchmark::State& state) {
    for (auto _ : state) {
        const test::DaemonProcess daemon = start_daemon();
        const Client sending = Client::connect(daemon.connection_string());
        auto said = std::async(std::launch::async, [&] {
            return run_client(state, "javascript", daemon.connection_string(),
                              {"latency", queue, std::to_string(paced)});
        });
        if (said.wait_for(3s) == std::future_status::ready) { // on a timeout it listens by now
            static_cast<void>(said.get());
            return;
        }
        const auto begin = Clock::now();
        send_paced(sending);
        const auto figures = said.get();
        if (!figures) {
            return;
        }
        state.SetIterationTime(seconds_between(begin, Clock::now()));
        tell_percentiles(state, *figures);
    }
}
BENCHMARK(latency_javascript)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

} // namespace
