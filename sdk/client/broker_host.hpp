#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "broker/broker.hpp"
#include "core/clock.hpp"

namespace sessionq::client {

/// A local broker and the thread that drives its time. The thread sleeps until something is due.
/// `LocalBroker` and its clients share it.
class BrokerHost {
public:
    explicit BrokerHost(const core::Clock& clock = core::system_clock())
        : BrokerHost{Kept{}, clock} {}
    /// A broker that stores its data in `directory` and starts with the data there. Throws Error as
    /// `broker::StoreJournal::open` fails.
    explicit BrokerHost(const std::filesystem::path& directory,
                        const core::Clock& clock = core::system_clock());
    ~BrokerHost();
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
    static Kept open(const std::filesystem::path& directory, const core::Clock& clock);
    void run();
    void look_again();

    const core::Clock& clock_;
    broker::Broker broker_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool look_again_{false}; // guarded by mutex_
    bool ending_{false};     // guarded by mutex_
    std::thread thread_;
};

} // namespace sessionq::client
