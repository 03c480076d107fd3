// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ports/endpoint.hpp"
#include "simulation/environment.hpp"
#include "simulation/setup.hpp"

namespace sessionq::simulation {

/// An application that sends through the product's port, over a connection of its own and under its
/// client's deadlines. It sends the batches of one session one after the other, each after the
/// confirmation of the one before. It repeats what failed and what has an unknown outcome.
class SendingClient {
public:
    SendingClient(Environment& environment, const Sending& sending, ports::EndpointPtr endpoint);
    ~SendingClient() { *here_ = false; }
    SendingClient(const SendingClient&) = delete;
    SendingClient& operator=(const SendingClient&) = delete;

    void send(const std::string& entity, const std::string& session, const std::string& id);

    /// True if nothing waits and everything is confirmed.
    [[nodiscard]] bool is_done() const;

    /// Stops sending. Runs on the endpoint's loop.
    void close();
    /// Checks that every attempt has been answered.
    void check_answered() const;

private:
    struct Outbox {
        std::string entity{};
        std::deque<SentRecord*> waiting{};
        std::vector<SentRecord*> batch{}; ///< under way, or to be repeated
        SentRecord* last{nullptr};
        bool is_asked{false};
    };

    void next(Outbox& outbox);
    void attempt(Outbox& outbox);
    void answered(Outbox& outbox, const core::Result<std::vector<std::int64_t>>& answer);

    Environment* environment_;
    Sending sending_;
    core::EventLoop* loop_;
    ports::EndpointPtr endpoint_; ///< null: closed
    std::map<std::pair<std::string, std::string>, Outbox> outboxes_{};
    std::shared_ptr<bool> here_{std::make_shared<bool>(true)}; ///< false once destroyed
};

} // namespace sessionq::simulation
