// SPDX-License-Identifier: MIT
// A broker that is far away: what a processor and Azure's clients reach over the same path, a proxy
// that delays both directions. Loopback hides what is bound by round trips.
#include <algorithm>

#include "bench/network_case.hpp"
#include "faults/proxy.hpp"

namespace {

using namespace std::chrono_literals;
using namespace sessionq;
using namespace sessionq::bench;

/// A broker at a distance. Filled from near.
class FarBroker {
public:
    FarBroker(std::chrono::milliseconds round_trip, std::size_t sessions, std::size_t messages)
        : proxy_{{.port = daemon_.port(), .round_trip = round_trip}} {
        fill(Client::connect(daemon_.connection_string()), sessions, messages, 256);
    }

    [[nodiscard]] std::string connection_string() const {
        const std::string near = ":" + std::to_string(daemon_.port());
        std::string made = daemon_.connection_string();
        return made.replace(made.find(near), near.size(), ":" + std::to_string(proxy_.port()));
    }

private:
    test::DaemonProcess daemon_{start_daemon()};
    faults::Proxy proxy_;
};

/// About ten seconds of work at what is reached today.
std::size_t enough(double a_round_trip, std::chrono::milliseconds round_trip) {
    const double round_trips = 10.0 / std::chrono::duration<double>(round_trip).count();
    return static_cast<std::size_t>(std::clamp(a_round_trip * round_trips, 200.0, 30'000.0));
}

void tell(benchmark::State& state, const std::string& of_case, const std::string& contender,
          double seconds, std::size_t count) {
    if (!(seconds > 0)) {
        state.SkipWithError((contender + " did not finish").c_str());
        return;
    }
    state.SetIterationTime(seconds);
    rates()[of_case + "/" + std::to_string(state.range(0))][contender].push_back(
        static_cast<double>(count) / seconds);
}

double rate(const benchmark::State& state, const std::string& of_case,
            const std::string& contender) {
    return median(rates()[of_case + "/" + std::to_string(state.range(0))][contender]);
}

// One session with all messages

void tell_far_session(benchmark::State& state, const std::string& contender) {
    const double a_second = rate(state, "far_session", contender);
    figure(state, "messages/s", a_second);
    figure(state, "messages_a_round_trip", a_second * static_cast<double>(state.range(0)) / 1e3);
}

void far_session_sessionq(benchmark::State& state) {
    const std::chrono::milliseconds round_trip{state.range(0)};
    constexpr std::size_t messages = 30'000; // so that finding the window's size counts for little
    for (auto _ : state) {
        const FarBroker broker{round_trip, 1, messages};
        tell(state, "far_session", "sessionq",
             consume(Client::connect(broker.connection_string()), {}, messages), messages);
    }
    tell_far_session(state, "sessionq");
}

void far_session_official(benchmark::State& state, const OfficialClient& client) {
    const std::chrono::milliseconds round_trip{state.range(0)};
    const std::size_t messages = enough(1, round_trip);
    for (auto _ : state) {
        const FarBroker broker{round_trip, 1, messages + 20};
        const auto said = run_client(state, client.name, broker.connection_string(),
                                     {"steady", queue, "1", "20", std::to_string(messages)});
        if (!said) {
            return;
        }
        tell(state, "far_session", client.name, said->at("seconds"), messages);
    }
    tell_far_session(state, client.name);
}

// Sessions with one message each, `range(1)` at a time

std::string rolling_case(const benchmark::State& state) {
    return "far_rolling/" + std::to_string(state.range(1));
}

void tell_far_rolling(benchmark::State& state, const std::string& contender) {
    const double a_second = rate(state, rolling_case(state), contender);
    figure(state, "sessions/s", a_second);
    figure(state, "round_trips_a_session",
           static_cast<double>(state.range(1)) * 1e3 /
               (a_second * static_cast<double>(state.range(0))));
}

void far_rolling_sessionq(benchmark::State& state) {
    const std::chrono::milliseconds round_trip{state.range(0)};
    const std::size_t sessions = enough(static_cast<double>(state.range(1)) / 3, round_trip);
    for (auto _ : state) {
        const FarBroker broker{round_trip, sessions, sessions};
        tell(state, rolling_case(state), "sessionq",
             consume(Client::connect(broker.connection_string()),
                     {.max_concurrent_sessions = static_cast<std::uint32_t>(state.range(1)),
                      .session_idle_timeout = 0s},
                     sessions),
             sessions);
    }
    tell_far_rolling(state, "sessionq");
}

void far_rolling_official(benchmark::State& state, const OfficialClient& client) {
    const std::chrono::milliseconds round_trip{state.range(0)};
    const std::size_t sessions = enough(static_cast<double>(state.range(1)) / 8, round_trip);
    const std::size_t warm = static_cast<std::size_t>(state.range(1));
    for (auto _ : state) {
        const FarBroker broker{round_trip, sessions + warm, sessions + warm};
        const auto said = run_client(state, client.name, broker.connection_string(),
                                     {"rolling", queue, std::to_string(state.range(1)),
                                      std::to_string(warm), std::to_string(sessions)});
        if (!said) {
            return;
        }
        tell(state, rolling_case(state), client.name, said->at("seconds"), sessions);
    }
    tell_far_rolling(state, client.name);
}

void for_all(const std::string& name, auto function,
             const std::vector<std::vector<std::int64_t>>& arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function)
        ->ArgsProduct(arguments)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(1);
}

const bool are_registered = [] {
    const std::vector<std::int64_t> milliseconds{1, 20, 50, 100};
    const std::vector<std::int64_t> slots{8, 64};
    for_all("far_session_sessionq", far_session_sessionq, {milliseconds});
    for_all("far_rolling_sessionq", far_rolling_sessionq, {milliseconds, slots});
    for (const OfficialClient& client : official_clients()) {
        for_all("far_session_" + client.name,
                [&client](benchmark::State& state) { far_session_official(state, client); },
                {milliseconds});
        for_all("far_rolling_" + client.name,
                [&client](benchmark::State& state) { far_rolling_official(state, client); },
                {milliseconds, slots});
    }
    return true;
}();

} // namespace
