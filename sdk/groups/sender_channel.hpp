#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "amqp/engine.hpp"
#include "core/event_loop.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::groups {

/// A sender link to an entity and the messages on their way over it, each by itself: these brokers
/// know no batches. A call is answered when all of its messages are. Made anew by its owner once it
/// `is_lost`. Handlers run on the loop, by a later turn; when it is destroyed, with `cancelled`.
class SenderChannel final : private amqp::SessionListener, private amqp::LinkListener {
public:
    SenderChannel(core::EventLoop& loop, amqp::Engine& engine, std::string entity);
    ~SenderChannel() override;
    SenderChannel(const SenderChannel&) = delete;
    SenderChannel& operator=(const SenderChannel&) = delete;

    /// At least one message.
    void send(std::vector<std::string> encoded, ports::SendHandler handler);
    [[nodiscard]] bool is_lost() const noexcept { return lost_; }

private:
    struct Call {
        std::size_t messages{0};
        std::size_t unanswered{0};
        std::optional<Failure> failure{};
        ports::SendHandler handler{};
    };
    struct Waiting {
        std::string bytes{};
        std::shared_ptr<Call> call{};
    };

    void on_sender(amqp::SenderLinkPtr link) override;
    void on_receiver(amqp::ReceiverLinkPtr link) override;
    void on_session_ended(const amqp::Condition& condition) override;
    void on_link_open() override { send_waiting(); }
    void on_link_closed(const amqp::Condition& condition, bool closed) override;
    void on_link_gone(const amqp::Condition&) override {} // the session tells
    void on_flow() override { send_waiting(); }
    void on_disposition(amqp::DeliveryHandle delivery) override;

    void send_waiting();
    void fail(const Failure& why);
    void answered(const std::shared_ptr<Call>& call, std::optional<Failure> failure);

    core::EventLoop& loop_;
    const std::string entity_;
    amqp::SessionPtr session_;
    amqp::SenderLinkPtr link_{};
    std::deque<Waiting> waiting_{};
    std::unordered_map<std::uint64_t, std::shared_ptr<Call>> unanswered_{}; // by tag
    std::uint64_t last_tag_{0};
    bool lost_{false};
};

} // namespace sessionq::groups
