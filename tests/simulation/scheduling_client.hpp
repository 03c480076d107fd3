// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "ports/endpoint.hpp"
#include "simulation/environment.hpp"
#include "simulation/setup.hpp"

namespace sessionq::simulation {

/// An application that schedules messages and cancels some of them, through the product's port,
/// over a connection of its own and under its client's deadlines. It retries what failed and what
/// has an unknown outcome.
class SchedulingClient {
public:
    SchedulingClient(Environment& environment, Duration timeout, ports::EndpointPtr endpoint)
        : environment_{&environment},
          timeout_{timeout},
          loop_{&endpoint->loop()},
          endpoint_{std::move(endpoint)} {}
    ~SchedulingClient() { *here_ = false; }
    SchedulingClient(const SchedulingClient&) = delete;
    SchedulingClient& operator=(const SchedulingClient&) = delete;

    void schedule(const std::string& entity, const std::string& session, const std::string& id,
                  Duration from_now);

    /// True if nothing is left to do and no message waits for its time.
    [[nodiscard]] bool is_done() const;

    /// Stops asking. Runs on the endpoint's loop.
    void close() { endpoint_.reset(); }

private:
    void attempt(ScheduledRecord& record);
    void confirmed(ScheduledRecord& record, std::int64_t sequence);
    void cancel(ScheduledRecord& record, std::int64_t sequence);
    void later(std::function<void()> what);

    Environment* environment_;
    Duration timeout_;
    core::EventLoop* loop_;
    ports::EndpointPtr endpoint_;                              ///< null: closed
    std::shared_ptr<bool> here_{std::make_shared<bool>(true)}; ///< false once destroyed
};

} // namespace sessionq::simulation
