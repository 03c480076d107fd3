// SPDX-License-Identifier: MIT
// Our processor on a broker with message groups. It also fills the queue.
//   processor_receiver fill URL QUEUE GROUPS MESSAGES
//   processor_receiver take URL QUEUE GROUPS MESSAGES
// `take` prints the seconds from the first message to the last settlement.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <vector>

#include <sessionq/sessionq.hpp>

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t body_bytes = 1024;

void fill(const std::string& url, const std::string& queue, std::size_t groups,
          std::size_t messages) {
    const auto client = sessionq::Client::connect(url);
    sessionq::Sender sender{client, queue};
    std::vector<sessionq::Message> batch;
    for (std::size_t i = 0; i < messages; ++i) {
        batch.push_back(sessionq::Message::of(std::string(body_bytes, 'x'))
                            .in_session("g" + std::to_string(i % groups)));
        if (batch.size() == 500 || i + 1 == messages) {
            sender.send_all(std::move(batch));
            batch = {};
        }
    }
}

void take(const std::string& url, const std::string& queue, std::size_t groups,
          std::size_t messages) {
    const auto client = sessionq::Client::connect(url);
    std::atomic<std::size_t> handled{0};
    std::atomic<Clock::time_point> first{Clock::time_point{}};
    std::promise<void> done;
    sessionq::SessionProcessor processor{
        client,
        queue,
        {.max_concurrent_sessions = static_cast<std::uint32_t>(groups),
         .session_idle_timeout = 5s,
         .worker_threads = 2}};
    processor.on_message([&](sessionq::MessageContext&) {
        const std::size_t count = handled.fetch_add(1) + 1;
        if (count == 1) {
            first = Clock::now();
        }
        if (count == messages) {
            done.set_value();
        }
    });
    processor.start();
    done.get_future().wait();
    const double seconds = std::chrono::duration<double>(Clock::now() - first.load()).count();
    processor.stop(10s);
    std::printf("%.6f\n", seconds);
}

} // namespace

int main(int count, char** arguments) {
    if (count != 6) {
        std::fputs("usage: processor_receiver fill|take URL QUEUE GROUPS MESSAGES\n", stderr);
        return 2;
    }
    try {
        const auto run = arguments[1] == std::string{"fill"} ? fill : take;
        run(arguments[2], arguments[3], std::strtoul(arguments[4], nullptr, 10),
            std::strtoul(arguments[5], nullptr, 10));
        return 0;
    } catch (const sessionq::Error& error) {
        std::fprintf(stderr, "processor_receiver: %s\n", error.what());
        return 1;
    }
}
