#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "amqp/session.hpp"
#include "ports/endpoint.hpp"
#include "servicebus/hub.hpp"

namespace sessionq::servicebus {

/// The sender link to one entity: sends what waits as the broker gives credit, several messages at
/// once as one batch, and tells what the broker said of each. Made anew by its owner once it
/// `is_lost`. Handlers run on the loop, by a later turn; when it is destroyed, with `cancelled`.
class SenderChannel final : private amqp::SessionListener, private amqp::LinkListener {
public:
    SenderChannel(core::EventLoop& loop, amqp::Engine& engine, std::string entity);
    ~SenderChannel() override;
    SenderChannel(const SenderChannel&) = delete;
    SenderChannel& operator=(const SenderChannel&) = delete;

    void send(std::vector<std::string> encoded, ports::SendHandler handler);
    [[nodiscard]] bool is_lost() const noexcept { return lost_; }

private:
    struct Sending {
        std::string bytes{};
        std::uint32_t format{0};
        std::size_t messages{0};
        ports::SendHandler handler{};
    };

    void on_sender(amqp::SenderLinkPtr link) override;
    void on_receiver(amqp::ReceiverLinkPtr link) override;
    void on_session_ended(const amqp::Condition& condition) override;
    void on_link_open() override { send_waiting(); }
    void on_link_closed(const amqp::Condition& condition, bool closed) override;
    void on_link_gone(const amqp::Condition& condition) override;
    void on_flow() override { send_waiting(); }
    void on_disposition(amqp::DeliveryHandle delivery) override;

    void send_waiting();
    void fail(const Failure& why);
    void answer(ports::SendHandler handler, core::Result<std::vector<std::int64_t>> result);

    core::EventLoop& loop_;
    const std::string entity_;
    amqp::SessionPtr session_;
    amqp::SenderLinkPtr link_{};
    std::deque<Sending> waiting_{};
    std::unordered_map<std::uint64_t, Sending> unanswered_{}; // by tag
    std::uint64_t last_tag_{0};
    bool lost_{false};
};

} // namespace sessionq::servicebus
