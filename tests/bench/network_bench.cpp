// SPDX-License-Identifier: MIT
// Over loopback, on a sessionqd of this build: a SessionProcessor beside Azure's clients for other
// languages and a bare Proton-C receiver, in the same run. peers/install.bash installs the clients
// in SESSIONQ_BENCH_PEERS. Cases of absent clients are skipped.
#include <unistd.h>

#include "bench/network_case.hpp"
#include "bench/process.hpp"
#include "servicebus/shared_access_signature.hpp"

namespace {

using namespace std::chrono_literals;
using namespace sessionq;
using namespace sessionq::bench;

constexpr std::size_t many = 192'000;

/// Records one round of a contender in a case.
void report(benchmark::State& state, const std::string& of_case, const std::string& contender,
            double seconds, std::size_t count) {
    if (!(seconds > 0)) {
        state.SkipWithError((contender + " did not finish").c_str());
        return;
    }
    state.SetIterationTime(seconds);
    rates()[of_case][contender].push_back(static_cast<double>(count) / seconds);
}
void report_rate(benchmark::State& state, const std::string& of_case, const std::string& contender,
                 const char* unit) {
    if (rates()[of_case].contains(contender)) { // otherwise the state already says why
        figure(state, unit, median(rates()[of_case][contender]));
    }
}

// Steady consumption

std::string steady_case(const benchmark::State& state) {
    return "steady/" + std::to_string(state.range(0));
}

void steady_sessionq(benchmark::State& state) {
    for (auto _ : state) {
        const test::DaemonProcess daemon = start_daemon();
        const Client client = Client::connect(daemon.connection_string());
        fill(client, session_registry, many, static_cast<std::size_t>(state.range(0)));
        const double before = processor_seconds(::getpid());
        const double broker_before = processor_seconds(daemon.id());
        const double seconds = consume(
            client, {.max_concurrent_sessions = session_registry, .session_idle_timeout = 10s},
            many);
        figure(state, "client_cpu_us/message",
               (processor_seconds(::getpid()) - before) * 1e6 / static_cast<double>(many));
        figure(state, "broker_cpu_us/message",
               (processor_seconds(daemon.id()) - broker_before) * 1e6 / static_cast<double>(many));
        report(state, steady_case(state), "sessionq", seconds, many);
    }
    report_rate(state, steady_case(state), "sessionq", "messages/s");
}
BENCHMARK(steady_sessionq)
    ->Arg(256)
    ->Arg(4096)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

/// A receiver that is a program of its own and does less than a processor. `more`: its arguments
/// behind the number of messages.
void steady_bare(benchmark::State& state, const std::string& contender, const char* program,
                 const std::vector<std::string>& more) {
    for (auto _ : state) {
        const test::DaemonProcess daemon = start_daemon();
        fill(Client::connect(daemon.connection_string()), session_registry, many,
             static_cast<std::size_t>(state.range(0)));
        std::vector<std::string> command{program, std::to_string(daemon.port()), queue,
                                         std::to_string(session_registry), std::to_string(many)};
        command.insert(command.end(), more.begin(), more.end());
        const double broker_before = processor_seconds(daemon.id());
        const Finished peer = run(command);
        if (peer.output.empty()) {
            state.SkipWithError((contender + " failed").c_str());
            return;
        }
        figure(state, "client_cpu_us/message",
               peer.processor_seconds * 1e6 / static_cast<double>(many));
        figure(state, "broker_cpu_us/message",
               (processor_seconds(daemon.id()) - broker_before) * 1e6 / static_cast<double>(many));
        report(state, steady_case(state), contender, std::stod(peer.output), many);
    }
    report_rate(state, steady_case(state), contender, "messages/s");
}

void steady_proton(benchmark::State& state) {
    steady_bare(state, "proton", PROTON_RECEIVER,
                {detail::servicebus::make_shared_access_signature(
                    std::string{"sb://127.0.0.1/"} + queue, "RootManageSharedAccessKey",
                    "SAS_KEY_VALUE", std::chrono::system_clock::now() + 1h)});
}
BENCHMARK(steady_proton)
    ->Arg(256)
    ->Arg(4096)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

// What is left of our own client without a processor: its engine, with decoded messages, and with a
// worker thread that handles them.
void steady_engine(benchmark::State& state) { steady_bare(state, "engine", ENGINE_RECEIVER, {}); }
BENCHMARK(steady_engine)
    ->Arg(256)
    ->Arg(4096)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

void steady_engine_decoding(benchmark::State& state) {
    steady_bare(state, "engine_decoding", ENGINE_RECEIVER, {"decode"});
}
BENCHMARK(steady_engine_decoding)
    ->Arg(256)
    ->Arg(4096)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

void steady_engine_working(benchmark::State& state) {
    steady_bare(state, "engine_working", ENGINE_RECEIVER, {"work"});
}
BENCHMARK(steady_engine_working)
    ->Arg(256)
    ->Arg(4096)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

void steady_official(benchmark::State& state, const OfficialClient& client) {
    const std::size_t messages = client.warm_messages + client.messages;
    for (auto _ : state) {
        const test::DaemonProcess daemon = start_daemon();
        fill(Client::connect(daemon.connection_string()), session_registry, messages,
             static_cast<std::size_t>(state.range(0)));
        const auto said =
            run_client(state, client.name, daemon.connection_string(),
                       {"steady", queue, std::to_string(session_registry),
                        std::to_string(client.warm_messages), std::to_string(client.messages)});
        if (!said) {
            return;
        }
        figure(state, "client_cpu_us/message",
               // includes its start
               said->at("processor_seconds").get<double>() * 1e6 / static_cast<double>(messages));
        report(state, steady_case(state), client.name, said->at("seconds"), client.messages);
    }
    report_rate(state, steady_case(state), client.name, "messages/s");
}

// Sessions with one message each

void rolling_sessionq(benchmark::State& state) {
    constexpr std::size_t sessions = 30'000;
    for (auto _ : state) {
        const test::DaemonProcess daemon = start_daemon();
        const Client client = Client::connect(daemon.connection_string());
        fill(client, sessions, sessions, 256);
        report(state, "rolling", "sessionq",
               consume(client,
                       {.max_concurrent_sessions = session_registry, .session_idle_timeout = 0s},
                       sessions),
               sessions);
    }
    report_rate(state, "rolling", "sessionq", "sessions/s");
}
BENCHMARK(rolling_sessionq)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);

void rolling_official(benchmark::State& state, const OfficialClient& client) {
    const std::size_t sessions = client.warm_sessions + client.sessions;
    for (auto _ : state) {
        const test::DaemonProcess daemon = start_daemon();
        fill(Client::connect(daemon.connection_string()), sessions, sessions, 256);
        const auto said =
            run_client(state, client.name, daemon.connection_string(),
                       {"rolling", queue, std::to_string(session_registry),
                        std::to_string(client.warm_sessions), std::to_string(client.sessions)});
        if (!said) {
            return;
        }
        report(state, "rolling", client.name, said->at("seconds"), client.sessions);
    }
    report_rate(state, "rolling", client.name, "sessions/s");
}

/// Ratios of the rates above: ours to each other client's, and to the fastest of Azure's clients.
void ratios(benchmark::State& state, const std::string& of_case) {
    for (auto _ : state) {
        auto& measured = rates()[of_case];
        if (!measured.contains("sessionq")) {
            state.SkipWithError("skipped: our own client was not measured");
            return;
        }
        const double ours = median(measured["sessionq"]);
        const OfficialClient* best = nullptr;
        for (const OfficialClient& client : official_clients()) {
            if (measured.contains(client.name) &&
                (best == nullptr || median(measured[client.name]) > median(measured[best->name]))) {
                best = &client;
            }
        }
        for (const auto& [contender, its] : measured) {
            if (contender != "sessionq") {
                figure(state, "x_" + contender, ours / median(its));
            }
        }
        if (best == nullptr) {
            state.SetLabel("no official client was measured");
        } else {
            figure(state, "x_best_official", ours / median(measured[best->name]));
            state.SetLabel("the best official client: " + best->name);
        }
    }
}

} // namespace

int main(int count, char** arguments) {
    constexpr int rounds = 2;
    for (const OfficialClient& client : official_clients()) {
        benchmark::RegisterBenchmark(("steady_" + client.name).c_str(), steady_official, client)
            ->Arg(256)
            ->Arg(4096)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond)
            ->Iterations(rounds);
        benchmark::RegisterBenchmark(("rolling_" + client.name).c_str(), rolling_official, client)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond)
            ->Iterations(rounds);
    }
    for (const char* of_case : {"steady/256", "steady/4096", "rolling"}) {
        benchmark::RegisterBenchmark((std::string{"ratios/"} + of_case).c_str(), ratios, of_case)
            ->Iterations(1);
    }
    benchmark::Initialize(&count, arguments);
    if (benchmark::ReportUnrecognizedArguments(count, arguments)) {
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
