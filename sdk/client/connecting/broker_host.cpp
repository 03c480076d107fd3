// SPDX-License-Identifier: MIT
#include "client/connecting/broker_host.hpp"

#include <pthread.h>

#include <utility>

#include "broker/store/store_journal.hpp"
#include "server/stored_content.hpp"

namespace sessionq::detail::client {

BrokerHost::BrokerHost(const std::filesystem::path& directory, OnDamage on_damage,
                       const core::Clock& clock)
    : BrokerHost{directory.empty() ? Kept{} : open(directory, on_damage, clock), clock} {}

BrokerHost::Kept BrokerHost::open(const std::filesystem::path& directory, OnDamage on_damage,
                                  const core::Clock& clock) {
    const broker::Instant at{.now = clock.now(), .wall = clock.wall_now()};
    auto codec = std::make_shared<const server::StoredContent>(
        amqp::ClockReading{.now = at.now, .wall = at.wall});
    auto opened = broker::StoreJournal::open(directory, std::move(codec), at.wall, clock, on_damage)
                      .take_or_throw();
    return {.journal = std::move(opened.journal), .queues = std::move(opened.stored), .at = at};
}

BrokerHost::BrokerHost(Kept kept, const core::Clock& clock)
    : clock_{clock}, broker_{std::move(kept.journal), std::move(kept.queues), kept.at} {
    broker_.set_wakeup_listener([this] { look_again(); });
    thread_ = std::jthread{[this](const std::stop_token& ending) { run(ending); }};
}

void BrokerHost::look_again() {
    {
        const std::lock_guard lock{mutex_};
        ++changes_;
    }
    changed_.notify_one();
}

void BrokerHost::run(const std::stop_token& ending) {
    pthread_setname_np(pthread_self(), "sessionq-broker");
    std::unique_lock lock{mutex_};
    while (!ending.stop_requested()) {
        const auto changed = [this, seen = changes_] { return changes_ != seen; };
        lock.unlock();
        broker_.advance(now());
        const auto due = broker_.next_wakeup();
        lock.lock();
        if (due) {
            changed_.wait_until(lock, ending, *due, changed);
        } else {
            changed_.wait(lock, ending, changed);
        }
    }
}

} // namespace sessionq::detail::client
