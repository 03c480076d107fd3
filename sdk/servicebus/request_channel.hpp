#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <sessionq/deadline.hpp>

#include "amqp/engine.hpp"
#include "core/reply_queue.hpp"
#include "ports/request.hpp"
#include "servicebus/request.hpp"
#include "timing/timer.hpp"

namespace sessionq::servicebus {

/// Sends requests to one node and reports the answer of each once. The links are attached when
/// first needed and again after a loss.
///
/// A request that ends by its deadline or by `give_up` before it was sent is never sent. Handlers
/// run by a later turn of the loop; the destructor runs those that are left. Bound to the loop.
class RequestChannel final : private amqp::SessionListener, private amqp::LinkListener {
public:
    using Handler = ResponseHandler;
    using EngineHandler = std::function<void(core::Result<amqp::Engine*>)>;
    /// Runs the handler once the node may be used, now or by a later turn.
    using WhenReady = std::function<void(EngineHandler)>;

    RequestChannel(core::EventLoop& loop, std::string node, WhenReady when_ready);
    ~RequestChannel() override;
    RequestChannel(const RequestChannel&) = delete;
    RequestChannel& operator=(const RequestChannel&) = delete;

    /// `id` rises from call to call. The broker is told what is left until the deadline.
    void request(ports::RequestId id, Request request, Deadline deadline, Handler handler);
    /// Ends the request with `cancelled`. Ids that are not under way are ignored.
    void give_up(ports::RequestId id) { conclude(id, Errc::cancelled); }

private:
    struct Pending {
        Pending(RequestChannel& of, ports::RequestId number, Request what, Deadline until,
                Handler told)
            : channel{of},
              id{number},
              request{std::move(what)},
              deadline{until},
              handler{std::move(told)} {}
        void expire() { channel.conclude(id, Errc::timeout); }

        RequestChannel& channel;
        const ports::RequestId id;
        Request request;
        const Deadline deadline;
        Handler handler;
        timing::Timer timer{timing::Timer::calling<&Pending::expire>(this)};
    };
    using Requests = std::map<ports::RequestId, Pending>;

    void on_sender(amqp::SenderLinkPtr link) override;
    void on_receiver(amqp::ReceiverLinkPtr link) override;
    void on_session_ended(const amqp::Condition& condition) override { on_lost(condition); }
    void on_link_open() override { transmit(); }
    void on_link_closed(const amqp::Condition& condition, bool) override { on_lost(condition); }
    void on_link_gone(const amqp::Condition&) override {} // `on_session_ended` follows
    void on_flow() override { transmit(); }
    void on_delivery(amqp::DeliveryHandle delivery) override;
    void on_disposition(amqp::DeliveryHandle delivery) override { delivery.settle(); }

    void on_ready(ports::RequestId id, const core::Result<amqp::Engine*>& engine);
    [[nodiscard]] bool attach(amqp::Engine& engine);
    void transmit();
    void conclude(ports::RequestId id, Errc why);
    void on_lost(const amqp::Condition& condition);
    void reply(Requests& from, Requests::iterator pending, core::Result<Response> result);

    core::EventLoop& loop_;
    const std::string node_;
    const std::string reply_to_;
    const WhenReady when_ready_;
    amqp::SessionPtr session_{};
    amqp::SenderLinkPtr sender_{};
    amqp::ReceiverLinkPtr receiver_{};
    Requests preparing_{}; // wait for the connection
    Requests queued_{};    // wait for credit
    Requests sent_{};      // wait for the answer
    core::ReplyQueue replies_;
    const core::Anchor<RequestChannel> anchor_{*this};
};

} // namespace sessionq::servicebus
