// Over loopback, against a sessionqd of this build: a SessionProcessor beside Azure's JavaScript client and a bare Proton-C receiver on the same broker in the same
// run. Each measurement has a broker of its own. SESSIONQ_BENCH_JAVASCRIPT names a directory with the JavaScript peer and its client installed; without it what
// needs the peer is skipped.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <sessionq/sessionq.hpp>

#include "bench/daemon.hpp"
#include "servicebus/shared_access_signature.hpp"

namespace {

using namespace std::chrono_literals;
using namespace sessionq;
using bench::Daemon;
using bench::process_status;
using Clock = std::chrono::steady_clock;

constexpr std::size_t held_sessions = 64;
constexpr auto lock = ":session:lock=300";

double seconds_between(Clock::time_point begin, Clock::time_point end) { return std::chrono::duration<double>(end - begin).count(); }

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}
double percentile(const std::vector<double>& sorted, double share) {
    return sorted.empty() ? 0 : sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(static_cast<double>(sorted.size()) * share))];
}

/// Rates of this run by name, for the ratios at its end.
std::map<std::string, std::vector<double>>& rates() {
    static std::map<std::string, std::vector<double>> all;
    return all;
}

void fill(const Client& client, const std::string& queue, std::size_t sessions, std::size_t messages, std::size_t body) {
    Sender sender{client, queue};
    const std::size_t at_once = std::max<std::size_t>(1, std::min<std::size_t>(500, 200'000 / (body + 100)));
    std::vector<Message> batch;
    for (std::size_t i = 0; i < messages; ++i) {
        batch.push_back(Message::text("s" + std::to_string(i % sessions), std::string(body, 'x')));
        if (batch.size() == at_once || i + 1 == messages) {
            sender.send(std::exchange(batch, {}));
        }
    }
}

/// Nothing if there is no such peer here, or it failed.
std::optional<nlohmann::json> javascript(const Daemon& daemon, std::vector<std::string> work) {
    const char* place = std::getenv("SESSIONQ_BENCH_JAVASCRIPT");
    if (place == nullptr) {
        return std::nullopt;
    }
    ::setenv("SESSIONQ_CONNECTION", daemon.connection_string().c_str(), 1);
    std::vector<std::string> command{"node", "--expose-gc", std::string{place} + "/peer.mjs"};
    command.insert(command.end(), work.begin(), work.end());
    const bench::Finished peer = bench::run(command);
    if (peer.output.empty()) {
        return std::nullopt;
    }
    nlohmann::json figures = nlohmann::json::parse(peer.output);
    figures["processor_seconds"] = peer.processor_seconds;
    return figures;
}
constexpr auto no_javascript = "skipped: the JavaScript peer is not installed, or failed";

// Steady consumption

/// From the first message handled to the last one.
double consume(const Client& client, ProcessorOptions options, std::size_t messages) {
    std::atomic<std::size_t> handled{0};
    Clock::time_point first;
    std::promise<Clock::time_point> done;
    SessionProcessor processor{client, "bench", std::move(options)};
    processor.on_message([&](MessageContext&) {
        const std::size_t count = handled.fetch_add(1, std::memory_order_relaxed) + 1;
        if (count == 1) {
            first = Clock::now();
        } else if (count == messages) {
            done.set_value(Clock::now());
        }
    });
    processor.start();
    const auto last = done.get_future().get();
    processor.stop(10s);
    return seconds_between(first, last);
}

void report(benchmark::State& state, const std::string& name, double seconds, std::size_t messages) {
    state.SetIterationTime(seconds);
    rates()[name].push_back(static_cast<double>(messages) / seconds);
}
void report_rate(benchmark::State& state, const std::string& name, const char* unit) { state.counters[unit] = median(rates()[name]); }

constexpr std::size_t many = 192'000;
constexpr std::size_t few = 12'800; // for who is slow: the rate is steady from the first thousand on

void steady_sessionq(benchmark::State& state) {
    const auto body = static_cast<std::size_t>(state.range(0));
    const std::string name = "sessionq/" + std::to_string(body);
    for (auto _ : state) {
        const Daemon daemon{{std::string{"bench"} + lock}};
        const Client client = Client::connect(daemon.connection_string());
        fill(client, "bench", held_sessions, many, body);
        const double before = bench::processor_seconds(::getpid());
        const double broker_before = bench::processor_seconds(daemon.process());
        const double seconds = consume(client, {.max_concurrent_sessions = held_sessions, .session_idle_timeout = 10s}, many);
        state.counters["client_cpu_us/message"] = (bench::processor_seconds(::getpid()) - before) * 1e6 / static_cast<double>(many);
        state.counters["broker_cpu_us/message"] = (bench::processor_seconds(daemon.process()) - broker_before) * 1e6 / static_cast<double>(many);
        report(state, name, seconds, many);
    }
    report_rate(state, name, "messages/s");
}
BENCHMARK(steady_sessionq)->Arg(256)->Arg(4096)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);

void steady_proton(benchmark::State& state) {
    const auto body = static_cast<std::size_t>(state.range(0));
    const std::string name = "proton/" + std::to_string(body);
    for (auto _ : state) {
        const Daemon daemon{{std::string{"bench"} + lock}};
        fill(Client::connect(daemon.connection_string()), "bench", held_sessions, many, body);
        const std::string token = servicebus::make_shared_access_signature("sb://127.0.0.1/bench", "RootManageSharedAccessKey", "SAS_KEY_VALUE",
                                                                           std::chrono::system_clock::now() + 1h);
        const double broker_before = bench::processor_seconds(daemon.process());
        const bench::Finished peer =
            bench::run({PROTON_RECEIVER, std::to_string(daemon.port()), "bench", std::to_string(held_sessions), std::to_string(many), token});
        if (peer.output.empty()) {
            state.SkipWithError("the Proton-C receiver failed");
            return;
        }
        state.counters["client_cpu_us/message"] = peer.processor_seconds * 1e6 / static_cast<double>(many);
        state.counters["broker_cpu_us/message"] = (bench::processor_seconds(daemon.process()) - broker_before) * 1e6 / static_cast<double>(many);
        report(state, name, std::stod(peer.output), many);
    }
    report_rate(state, name, "messages/s");
}
BENCHMARK(steady_proton)->Arg(256)->Arg(4096)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);

void steady_javascript(benchmark::State& state) {
    const auto body = static_cast<std::size_t>(state.range(0));
    const std::string name = "javascript/" + std::to_string(body);
    for (auto _ : state) {
        const Daemon daemon{{std::string{"bench"} + lock}};
        fill(Client::connect(daemon.connection_string()), "bench", held_sessions, few, body);
        const auto said = javascript(daemon, {"steady", "bench", std::to_string(held_sessions), std::to_string(few)});
        if (!said) {
            state.SkipWithError(no_javascript);
            return;
        }
        state.counters["client_cpu_us/message"] = said->at("processor_seconds").get<double>() * 1e6 / static_cast<double>(few); // its start included
        report(state, name, said->at("seconds"), few);
    }
    report_rate(state, name, "messages/s");
}
BENCHMARK(steady_javascript)->Arg(256)->Arg(4096)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);

// Sessions of one message

void rolling_sessionq(benchmark::State& state) {
    constexpr std::size_t sessions = 30'000;
    for (auto _ : state) {
        const Daemon daemon{{std::string{"bench"} + lock}};
        const Client client = Client::connect(daemon.connection_string());
        fill(client, "bench", sessions, sessions, 256);
        report(state, "rolling_sessionq", consume(client, {.max_concurrent_sessions = held_sessions, .session_idle_timeout = 0s}, sessions),
               sessions);
    }
    report_rate(state, "rolling_sessionq", "sessions/s");
}
BENCHMARK(rolling_sessionq)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);

void rolling_javascript(benchmark::State& state) {
    constexpr std::size_t sessions = 2'000;
    for (auto _ : state) {
        const Daemon daemon{{std::string{"bench"} + lock}};
        fill(Client::connect(daemon.connection_string()), "bench", sessions, sessions, 256);
        const auto said = javascript(daemon, {"rolling", "bench", std::to_string(held_sessions), std::to_string(sessions)});
        if (!said) {
            state.SkipWithError(no_javascript);
            return;
        }
        report(state, "rolling_javascript", said->at("seconds"), sessions);
    }
    report_rate(state, "rolling_javascript", "sessions/s");
}
BENCHMARK(rolling_javascript)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);

/// With one slot: from the end of one session's handler to the start of the next one's.
void roll_latency_sessionq(benchmark::State& state) {
    constexpr std::size_t sessions = 5'000;
    for (auto _ : state) {
        const Daemon daemon{{std::string{"bench"} + lock}};
        const Client client = Client::connect(daemon.connection_string());
        fill(client, "bench", sessions, sessions, 256);
        std::vector<double> gaps;
        std::optional<Clock::time_point> ended;
        std::promise<void> done;
        SessionProcessor processor{client, "bench", {.max_concurrent_sessions = 1, .session_idle_timeout = 0s, .worker_threads = 1}};
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
        done.get_future().wait();
        state.SetIterationTime(seconds_between(begin, Clock::now()));
        processor.stop(10s);
        std::sort(gaps.begin(), gaps.end());
        state.counters["p50_us"] = percentile(gaps, 0.5);
        state.counters["p99_us"] = percentile(gaps, 0.99);
    }
}
BENCHMARK(roll_latency_sessionq)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

void roll_latency_javascript(benchmark::State& state) {
    constexpr std::size_t sessions = 500;
    for (auto _ : state) {
        const Daemon daemon{{std::string{"bench"} + lock}};
        fill(Client::connect(daemon.connection_string()), "bench", sessions, sessions, 256);
        const auto said = javascript(daemon, {"rolling", "bench", "1", std::to_string(sessions)});
        if (!said) {
            state.SkipWithError(no_javascript);
            return;
        }
        state.SetIterationTime(said->at("seconds"));
        state.counters["p50_us"] = said->at("p50");
        state.counters["p99_us"] = said->at("p99");
    }
}
BENCHMARK(roll_latency_javascript)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

// One message at a time

constexpr std::size_t paced = 5'000;

double unix_microseconds() { return std::chrono::duration<double, std::micro>(std::chrono::system_clock::now().time_since_epoch()).count(); }

/// A thousand a second; each says when it was sent.
void send_paced(const Client& client) {
    Sender sender{client, "bench"};
    auto next = Clock::now();
    for (std::size_t i = 0; i < paced; ++i) {
        std::this_thread::sleep_until(next += 1ms);
        sender.send(Message::text("one", std::to_string(unix_microseconds())));
    }
}

void latency_sessionq(benchmark::State& state) {
    for (auto _ : state) {
        const Daemon daemon{{std::string{"bench"} + lock}};
        const Client sending = Client::connect(daemon.connection_string());
        const Client client = Client::connect(daemon.connection_string());
        std::vector<double> taken;
        std::promise<void> done;
        SessionProcessor processor{client, "bench", {.max_concurrent_sessions = 1, .session_idle_timeout = 10s, .worker_threads = 1}};
        processor.on_message([&](MessageContext& call) {
            taken.push_back(unix_microseconds() - std::stod(std::string{call.message().text()}));
            if (taken.size() == paced) {
                done.set_value();
            }
        });
        processor.start();
        const auto begin = Clock::now();
        send_paced(sending);
        done.get_future().wait();
        state.SetIterationTime(seconds_between(begin, Clock::now()));
        processor.stop(10s);
        std::sort(taken.begin(), taken.end());
        state.counters["p50_us"] = percentile(taken, 0.5);
        state.counters["p99_us"] = percentile(taken, 0.99);
        state.counters["p99.9_us"] = percentile(taken, 0.999);
    }
}
BENCHMARK(latency_sessionq)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

void latency_javascript(benchmark::State& state) {
    for (auto _ : state) {
        const Daemon daemon{{std::string{"bench"} + lock}};
        const Client sending = Client::connect(daemon.connection_string());
        auto said = std::async(std::launch::async, [&] { return javascript(daemon, {"latency", "bench", std::to_string(paced)}); });
        if (said.wait_for(3s) == std::future_status::ready) { // else it has begun to listen by now
            state.SkipWithError(no_javascript);
            return;
        }
        const auto begin = Clock::now();
        send_paced(sending);
        const auto figures = said.get();
        if (!figures) {
            state.SkipWithError(no_javascript);
            return;
        }
        state.SetIterationTime(seconds_between(begin, Clock::now()));
        state.counters["p50_us"] = figures->at("p50");
        state.counters["p99_us"] = figures->at("p99");
        state.counters["p99.9_us"] = figures->at("p999");
    }
}
BENCHMARK(latency_javascript)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

// Waiting

double bytes_in_use() {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

/// Sessions that are held and have nothing to do: what each costs the client and the broker, threads, and the share of a core while nothing happens.
void waiting_sessionq(benchmark::State& state) {
    const auto sessions = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) {
        const Daemon daemon{{std::string{"bench"} + lock}};
        const Client client = Client::connect(daemon.connection_string());
        fill(client, "bench", sessions, sessions, 16);
        ::malloc_trim(0);
        const double before = bytes_in_use();
        const long broker_before = process_status(daemon.process(), "VmRSS");
        std::atomic<std::size_t> left{sessions};
        std::promise<void> done;
        SessionProcessor processor{
            client, "bench", {.max_concurrent_sessions = static_cast<std::uint32_t>(sessions), .session_idle_timeout = Duration::max()}};
        processor.on_message([&](MessageContext&) {
            if (left.fetch_sub(1, std::memory_order_relaxed) == 1) {
                done.set_value();
            }
        });
        const auto begin = Clock::now();
        processor.start();
        done.get_future().wait();
        state.SetIterationTime(seconds_between(begin, Clock::now()));
        std::this_thread::sleep_for(1s); // settlements
        state.counters["client_bytes/session"] = (bytes_in_use() - before) / static_cast<double>(sessions);
        state.counters["broker_bytes/session"] =
            static_cast<double>(process_status(daemon.process(), "VmRSS") - broker_before) * 1024 / static_cast<double>(sessions);
        state.counters["client_threads"] = static_cast<double>(process_status(::getpid(), "Threads"));
        state.counters["broker_threads"] = static_cast<double>(process_status(daemon.process(), "Threads"));
        const double used = bench::processor_seconds(::getpid());
        const double broker_used = bench::processor_seconds(daemon.process());
        constexpr auto watched = 10s;
        std::this_thread::sleep_for(watched);
        const double length = std::chrono::duration<double>(watched).count();
        state.counters["client_idle_core_percent"] = 100 * (bench::processor_seconds(::getpid()) - used) / length;
        state.counters["broker_idle_core_percent"] = 100 * (bench::processor_seconds(daemon.process()) - broker_used) / length;
        processor.stop(30s);
    }
}
BENCHMARK(waiting_sessionq)->Arg(10'000)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

void waiting_javascript(benchmark::State& state) {
    const auto sessions = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) {
        const Daemon daemon{{std::string{"bench"} + lock}};
        fill(Client::connect(daemon.connection_string()), "bench", sessions, sessions, 16);
        const auto begin = Clock::now();
        const auto said = javascript(daemon, {"waiting", "bench", std::to_string(sessions)});
        if (!said) {
            state.SkipWithError(no_javascript);
            return;
        }
        state.SetIterationTime(seconds_between(begin, Clock::now()));
        state.counters["client_bytes/session"] = said->at("bytes");
    }
}
BENCHMARK(waiting_javascript)->Arg(1'000)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

// The broker itself

void sessionqd_start(benchmark::State& state) {
    for (auto _ : state) {
        const Daemon daemon{{std::string{"bench"} + lock}};
        state.SetIterationTime(daemon.start_seconds());
        state.counters["resident_KiB"] = static_cast<double>(process_status(daemon.process(), "VmRSS"));
    }
}
BENCHMARK(sessionqd_start)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(10);

/// What was measured above, against each other. Last.
void ratios(benchmark::State& state) {
    for (auto _ : state) {
        const auto ratio = [&](const std::string& ours, const std::string& theirs) {
            if (rates().contains(ours) && rates().contains(theirs)) {
                state.counters[ours + ":" + theirs] = median(rates()[ours]) / median(rates()[theirs]);
            }
        };
        for (const char* body : {"256", "4096"}) {
            ratio(std::string{"sessionq/"} + body, std::string{"proton/"} + body);
            ratio(std::string{"sessionq/"} + body, std::string{"javascript/"} + body);
        }
        ratio("rolling_sessionq", "rolling_javascript");
    }
}
BENCHMARK(ratios)->Iterations(1);

} // namespace
