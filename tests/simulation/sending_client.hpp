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

/// An application that sends over a connection of its own, through the product's port and under its
/// client's deadlines. What is for one session goes out one after the other, each only when the one
/// before it is confirmed; what fails, or is not known to have had an effect, is sent again as it
/// was.
class SendingClient {
public:
    SendingClient(Environment& environment, const Sending& sending, ports::EndpointPtr endpoint);
    ~SendingClient() { *here_ = false; }
    SendingClient(const SendingClient&) = delete;
    SendingClient& operator=(const SendingClient&) = delete;

    void send(const std::string& entity, const std::string& session, const std::string& id);

    /// Nothing waits, and all is confirmed.
    [[nodiscard]] bool is_done() const;

    /// Nothing is sent any more; on the endpoint's loop.
    void close();
    /// Every attempt must have been answered by now.
    void check_answered() const;

private:
    struct Outbox {
        std::string entity{};
        std::deque<SentRecord*> waiting{};
        std::vector<SentRecord*> batch{}; ///< under way, or to be sent again
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
