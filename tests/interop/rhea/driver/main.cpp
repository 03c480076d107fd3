// SPDX-License-Identifier: MIT
// Reads commands, one line of JSON each: {"id": 1, "do": "receive", "with": {...}}. Runs each on
// its own thread, so that a waiting command does not block others. Answers and events are lines of
// JSON too. Exits at the end of its input.

#include <chrono>
#include <exception>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "commands.hpp"

int main() {
    using driver::Json;
    std::mutex output;
    const auto tell = [&output](const Json& what) {
        const std::lock_guard lock{output};
        std::cout << what.dump() << std::endl;
    };
    driver::Commands commands{tell};
    std::vector<std::thread> running;
    std::string line;
    while (std::getline(std::cin, line)) {
        running.emplace_back([&commands, &tell, asked = Json::parse(line)] {
            const auto began = std::chrono::steady_clock::now();
            Json answer;
            try {
                answer = {{"ok", commands.run(asked.at("do").get<std::string>(),
                                              asked.value("with", Json::object()))}};
            } catch (const sessionq::Error& error) {
                answer = driver::to_json(error.failure());
            } catch (const std::exception& error) {
                answer = {{"error", "exception"}, {"detail", error.what()}};
            }
            answer["id"] = asked.at("id");
            answer["ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(
                               std::chrono::steady_clock::now() - began)
                               .count();
            tell(answer);
        });
    }
    for (std::thread& each : running) {
        each.join();
    }
}
