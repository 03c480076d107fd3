// SPDX-License-Identifier: MIT
// Shows the effect of three settings: sessions at once, handlers per session, idle timeout.

#include <chrono>
#include <iomanip>
#include <iostream>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <sessionq/sessionq.hpp>

using namespace std::chrono_literals;

namespace {

constexpr int sessions = 40;
constexpr int messages_each = 5;

void fill(const sessionq::Client& client) {
    std::vector<sessionq::Message> messages;
    for (int i = 0; i < sessions * messages_each; ++i) {
        messages.push_back(
            sessionq::Message::of("job").in_session("session " + std::to_string(i % sessions)));
    }
    sessionq::Sender{client, "jobs"}.send_all(std::move(messages));
}

/// Handles all messages of the queue. Returns the processor's state just before the end.
sessionq::ProcessorDescription consume(const sessionq::Client& client, const std::string& what,
                                       const sessionq::SessionProcessorOptions& options,
                                       const sessionq::SessionProcessorLimits* later = nullptr) {
    fill(client);
    std::latch handled{sessions * messages_each};
    sessionq::SessionProcessor jobs{client, "jobs", options};
    jobs.on_message([&handled](sessionq::MessageContext&) {
        std::this_thread::sleep_for(2ms); // the work
        handled.count_down();
    });

    const auto began = std::chrono::steady_clock::now();
    jobs.start();
    if (later != nullptr) {
        jobs.update_limits(*later); // limits may change at any time
    }
    handled.wait();
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - began;

    std::cout << std::left << std::setw(44) << what << std::right << std::setw(5)
              << static_cast<int>(elapsed.count()) << " ms, " << jobs.counters().sessions_closed
              << " rolls\n";
    auto description = jobs.describe();
    jobs.stop();
    return description;
}

} // namespace

int main() {
    sessionq::LocalBroker broker;
    broker.create_queue("jobs");
    const auto client = sessionq::Client::in_process(broker);

    consume(client, "1 session at a time",
            {.max_concurrent_sessions = 1, .session_idle_timeout = 0s, .worker_threads = 16});
    consume(client, "8 sessions, each kept for 100 ms when idle",
            {.max_concurrent_sessions = 8, .session_idle_timeout = 100ms, .worker_threads = 16});
    consume(client, "8 sessions, left as soon as they are empty",
            {.max_concurrent_sessions = 8, .session_idle_timeout = 0s, .worker_threads = 16});
    consume(client, "8 sessions, 3 handlers in each, at most 16",
            {.max_concurrent_sessions = 8,
             .max_concurrent_calls_per_session = 3, // start in order, run in parallel
             .max_concurrent_calls = 16,
             .session_idle_timeout = 0s,
             .worker_threads = 16});

    const sessionq::SessionProcessorLimits wider{.max_concurrent_sessions = 16};
    const auto last = consume(
        client, "1 session, raised to 16 while running",
        {.max_concurrent_sessions = 1, .session_idle_timeout = 0s, .worker_threads = 16}, &wider);

    std::cout << "\nthe processor describes itself:\n" << last.to_string();
}
