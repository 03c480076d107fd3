// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "faults/promptness.hpp"

namespace sessionq::faults {

/// Peeks, lists sessions, and receives messages of its own entity with a `SessionReceiver`, each
/// call under a deadline. Runs a thread of its own.
class Onlooker {
public:
    Onlooker(std::string connection, std::string watched, std::string own, Promptness& promptness);
    ~Onlooker();
    Onlooker(const Onlooker&) = delete;
    Onlooker& operator=(const Onlooker&) = delete;

    [[nodiscard]] std::size_t connects() const noexcept { return connects_; }

private:
    void run();

    const std::string connection_;
    const std::string watched_;
    const std::string own_;
    Promptness& promptness_;
    std::atomic<bool> ending_{false};
    std::atomic<std::size_t> connects_{0};
    std::thread thread_;
};

} // namespace sessionq::faults
