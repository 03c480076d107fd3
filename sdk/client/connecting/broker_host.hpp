// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <stop_token>
#include <thread>

#include <sessionq/on_damage.hpp>

#include "broker/broker.hpp"
#include "core/clock.hpp"

namespace sessionq::detail::client {

/// Keeps a local broker, and does the broker's work when it falls due: locks, schedules, time to
/// live. Its thread sleeps until something is due. A `LocalBroker` makes a host and shares it with
/// its clients. `sessionqd` makes a host, too.
class BrokerHost {
public:
    /// Starts a broker that stores its data in `directory`. The broker begins with the data that is
    /// there already. If `directory` is empty, the broker stores nothing. Throws the failures of
    /// `broker::StoreJournal::open`.
    explicit BrokerHost(const std::filesystem::path& directory = {},
                        OnDamage on_damage = OnDamage::refuse,
                        const core::Clock& clock = core::system_clock());
    ~BrokerHost() = default;
    BrokerHost(const BrokerHost&) = delete;
    BrokerHost& operator=(const BrokerHost&) = delete;

    [[nodiscard]] broker::Broker& broker() noexcept { return broker_; }
    [[nodiscard]] broker::Instant now() const noexcept {
        return {.now = clock_.now(), .wall = clock_.wall_now()};
    }

private:
    struct Kept {
        std::shared_ptr<broker::Journal> journal{};
        std::vector<broker::DurableQueue> queues{};
        broker::Instant at{};
    };

    BrokerHost(Kept kept, const core::Clock& clock);
    static Kept open(const std::filesystem::path& directory, OnDamage on_damage,
                     const core::Clock& clock);
    void run(const std::stop_token& ending);
    void look_again();

    const core::Clock& clock_;
    broker::Broker broker_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::uint64_t changes_{0}; // guarded by mutex_
    std::jthread thread_;      // last: it uses all of the above
};

} // namespace sessionq::detail::client
