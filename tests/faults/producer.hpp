// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <sessionq/sessionq.hpp>

#include "core/random.hpp"
#include "faults/judge.hpp"
#include "faults/promptness.hpp"

namespace sessionq::faults {

struct ProducerOptions {
    std::string connection{};
    std::string entity{};
    std::vector<std::uint32_t> sessions{}; ///< used by this producer only
    std::uint64_t seed{1};
    std::uint32_t rate{150}; ///< the limit of messages a second
};

/// Sends numbered messages, singly and in batches, and repeats each until it is confirmed. Runs a
/// thread of its own.
class Producer {
public:
    Producer(ProducerOptions options, Promptness& promptness);
    ~Producer();
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;

    /// Stops sending new messages and repeats unconfirmed ones for at most `longest`. Returns false
    /// if some stayed unconfirmed.
    bool finish(Duration longest);
    /// Valid after `finish`.
    [[nodiscard]] const std::map<std::uint32_t, Sent>& sent() const noexcept { return sent_; }
    [[nodiscard]] std::size_t connects() const noexcept { return connects_.load(); }
    [[nodiscard]] std::size_t confirmed() const noexcept { return confirmed_.load(); }

private:
    void run();
    /// Repeats until the message is confirmed or given up.
    void send(const Client& client, std::uint32_t session, std::int64_t count);

    const ProducerOptions options_;
    Promptness& promptness_;
    core::Random random_;
    std::map<std::uint32_t, Sent> sent_{};
    std::atomic<bool> finishing_{false};
    std::atomic<bool> gives_up_{false};
    std::atomic<bool> is_done_{false};
    std::atomic<bool> failed_{false};
    std::atomic<std::size_t> connects_{0};
    std::atomic<std::size_t> confirmed_{0};
    std::thread thread_;
};

} // namespace sessionq::faults
