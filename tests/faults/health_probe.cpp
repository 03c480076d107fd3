// SPDX-License-Identifier: MIT
// A consumer for health_campaign.py, written with the public headers alone. It does what the body
// of a message says and tells each change of its health, and each line of the log, in JSON lines.
// Each line of standard input is a command: "free" lets handlers go that hang, "health" tells the
// health now, "pause" and "resume"; its end stops the processor.
//
//     health_probe CONNECTION ENTITY [sessions=N] [workers=N] [bytes=N] [calls=N] [prefetch=N]
//         [policy=park|dead-letter] [socket=PATH]

#include <atomic>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <nlohmann/json.hpp>

#include <sessionq/sessionq.hpp>

namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

std::mutex output_mutex;

void tell(std::string_view line) {
    const std::lock_guard lock{output_mutex};
    std::cout << line << std::endl;
}

void tell_health(std::string_view why, const sessionq::Health& health) {
    Json causes = Json::array();
    for (const sessionq::HealthReason& reason : health.reasons) {
        causes.push_back({{"cause", to_string(reason.cause)},
                          {"entity", reason.entity},
                          {"session", reason.session_id},
                          {"detail", reason.detail}});
    }
    tell(Json{{"told", why}, {"state", to_string(health.state)}, {"causes", causes}}.dump());
}

struct Arguments {
    Arguments(int count, char** values) {
        for (int i = 3; i < count; ++i) {
            const std::string_view argument{values[i]};
            const auto split = argument.find('=');
            const std::string_view name = argument.substr(0, split);
            const std::string value{argument.substr(split + 1)};
            if (name == "workers") {
                options.worker_threads = static_cast<std::uint32_t>(std::stoul(value));
            } else if (name == "calls") {
                options.max_concurrent_calls_per_session =
                    static_cast<std::uint32_t>(std::stoul(value));
            } else if (name == "sessions") {
                options.max_concurrent_sessions = static_cast<std::uint32_t>(std::stoul(value));
            } else if (name == "prefetch") {
                options.prefetch = static_cast<std::uint32_t>(std::stoul(value));
            } else if (name == "bytes") {
                options.max_buffered_bytes = std::stoul(value);
            } else if (name == "socket") {
                options.describe_socket = value;
            } else if (name == "policy") {
                options.failure_policy = value == "park" ? sessionq::FailurePolicy::park_session(4s)
                                                         : sessionq::FailurePolicy::dead_letter();
            } else {
                throw std::invalid_argument{"unknown argument"};
            }
        }
        options.health = {.not_connected = 1s,
                          .accept_failing = 1s,
                          .workers_busy = 1s,
                          .handler_slow = 1s,
                          .settlement_unanswered = 1s,
                          .buffer_full = 1s,
                          .sessions_parked = 1s,
                          .sessions_waiting = 1min};
    }

    sessionq::SessionProcessorOptions options{.error_backoff = {.min = 100ms, .max = 500ms}};
};

int run(int count, char** values) {
    const Arguments arguments{count, values};
    sessionq::set_log_sink(sessionq::json_log_sink(tell));
    sessionq::set_log_level(sessionq::LogLevel::info);
    const auto client =
        sessionq::Client::connect(values[1], {.operation_timeout = 5s,
                                              .connection_idle_timeout = 4s,
                                              .reconnect_backoff = {.min = 100ms, .max = 500ms}});
    sessionq::SessionProcessor processor{client, values[2], arguments.options};
    std::atomic<int> freed{0};
    processor.on_message([&freed](sessionq::MessageContext& context) {
        const std::string_view text = context.message().text();
        if (text.starts_with("hang")) {
            const int before = freed;
            tell(R"({"told":"handling"})");
            freed.wait(before);
        } else if (text == "throw") {
            throw std::runtime_error{"on purpose"};
        }
    });
    processor.on_health_changed(
        [](const sessionq::Health& health) { tell_health("change", health); });
    processor.start();
    tell(R"({"told":"ready"})");
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "free") {
            ++freed;
            freed.notify_all();
        } else if (line == "health") {
            tell_health("health", processor.describe().health);
        } else if (line == "pause") {
            processor.pause();
        } else if (line == "resume") {
            processor.resume();
        }
    }
    ++freed;
    freed.notify_all();
    return processor.stop(10s).complete ? 0 : 1;
}

} // namespace

int main(int count, char** values) {
    if (count < 3) {
        std::cerr << "usage: health_probe CONNECTION ENTITY [NAME=VALUE...]\n";
        return 2;
    }
    try {
        return run(count, values);
    } catch (const std::exception& error) {
        tell(Json{{"told", "error"}, {"text", error.what()}}.dump());
        return 1;
    }
}
