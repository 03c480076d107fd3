#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <sessionq/deadline.hpp>

#include "amqp/codec/value.hpp"
#include "amqp/session.hpp"
#include "core/event_loop.hpp"
#include "core/result.hpp"
#include "timing/timer.hpp"

namespace sessionq::servicebus {

/// A request to a node that answers: $cbs, or the $management of an entity.
struct Request {
    std::string operation{};
    amqp::Map properties{}; ///< application properties beside the operation
    amqp::Value body{};
};

struct Response {
    std::int64_t status{0};
    std::string description{};
    std::string condition{};
    amqp::Value body{};

    [[nodiscard]] bool is_success() const noexcept { return status >= 200 && status < 300; }
    /// For one that is no success; `what` says what was asked.
    [[nodiscard]] Failure to_failure(std::string what) const;
};

/// Requests and their answers over a pair of links in an AMQP session of its own. Each request is
/// answered exactly once: with the response, at its deadline, or when the links are gone, also when
/// that is because the channel is destroyed (`cancelled`). Handlers run on the loop and may destroy
/// the channel.
class RequestChannel final : private amqp::SessionListener, private amqp::LinkListener {
public:
    using Handler = std::function<void(core::Result<Response>)>;

    /// `session` may be null: then everything fails with resource_exhausted.
    RequestChannel(core::EventLoop& loop, amqp::SessionPtr session, std::string node);
    ~RequestChannel() override;
    RequestChannel(const RequestChannel&) = delete;
    RequestChannel& operator=(const RequestChannel&) = delete;

    void request(Request request, Deadline deadline, Handler handler);

    /// It is of no more use: make another.
    [[nodiscard]] bool is_lost() const noexcept { return lost_; }

private:
    struct Pending {
        std::string encoded{}; ///< empty once it is sent
        Deadline deadline{};
        Handler handler{};
    };

    void on_sender(amqp::SenderLinkPtr link) override;
    void on_receiver(amqp::ReceiverLinkPtr link) override;
    void on_session_ended(const amqp::Condition& condition) override;
    void on_link_open() override { send_waiting(); }
    void on_link_closed(const amqp::Condition& condition, bool closed) override;
    void on_link_gone(const amqp::Condition& condition) override;
    void on_flow() override { send_waiting(); }
    void on_delivery(amqp::DeliveryHandle delivery) override;
    void on_disposition(amqp::DeliveryHandle delivery) override;

    [[nodiscard]] std::string encode(const Request& request, const std::string& id) const;
    void send_waiting();
    void arm(Deadline next);
    void on_time();
    void fail(const Failure& why);

    core::EventLoop& loop_;
    const std::string node_;
    const std::string reply_to_;
    amqp::SessionPtr session_;
    amqp::SenderLinkPtr sender_{};
    amqp::ReceiverLinkPtr receiver_{};
    std::map<std::string, Pending, std::less<>> pending_{};
    std::deque<std::string> waiting_{}; ///< ids of what is not sent yet, oldest first
    std::uint64_t last_id_{0};
    bool lost_{false};
    timing::Timer timer_{timing::Timer::calling<&RequestChannel::on_time>(this)};
};

} // namespace sessionq::servicebus
