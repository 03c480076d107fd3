#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/deadline.hpp>

#include "amqp/engine.hpp"
#include "core/reply_queue.hpp"
#include "core/result.hpp"
#include "timing/timer.hpp"

namespace sessionq::amqp {

/// What distinguishes the sender channels of the dialects.
struct SenderTerms {
    std::string entity{};
    bool batches{false}; ///< Several messages of a send travel as one batch, so all or none.
    Failure (*explain)(const Condition& condition, std::string what){nullptr};
};

/// Sends messages to one entity over a sender link, as the connection and the broker's credit
/// allow, and reports the outcome of each send once. The link is attached when first needed and
/// again after a loss.
///
/// A send that ends by its deadline or by `give_up` before it was sent is never sent. Handlers run
/// by a later turn of the loop; the destructor runs those that are left. Bound to the loop.
class SenderChannel final : private SessionListener, private LinkListener {
public:
    using SendId = std::uint64_t;
    using Handler = std::function<void(core::Result<core::Done>)>;
    using EngineHandler = std::function<void(core::Result<Engine*>)>;
    /// Runs the handler once the entity may be sent to, now or by a later turn.
    using WhenReady = std::function<void(EngineHandler)>;

    SenderChannel(core::EventLoop& loop, SenderTerms terms, WhenReady when_ready);
    ~SenderChannel() override;
    SenderChannel(const SenderChannel&) = delete;
    SenderChannel& operator=(const SenderChannel&) = delete;

    /// `id` rises from call to call; `encoded` holds at least one message.
    void send(SendId id, std::vector<std::string> encoded, Deadline deadline, Handler handler);
    /// Ends the send with `cancelled`. Ids that are not under way are ignored.
    void give_up(SendId id) { conclude(id, Errc::cancelled); }

private:
    struct Sending {
        Sending(SenderChannel& of, SendId number, std::vector<std::string> messages, Handler told);
        void expire() { channel.conclude(id, Errc::timeout); }

        SenderChannel& channel;
        const SendId id;
        std::vector<std::string> encoded; // one: a message, or a batch
        const std::uint32_t format;
        std::size_t sent{0};
        std::size_t answered{0};
        std::optional<Failure> failure{};
        Handler handler;
        timing::Timer timer{timing::Timer::calling<&Sending::expire>(this)};
    };
    using Sends = std::map<SendId, Sending>;

    void on_sender(SenderLinkPtr link) override;
    void on_receiver(ReceiverLinkPtr link) override;
    void on_session_ended(const Condition& condition) override { on_lost(condition); }
    void on_link_open() override { transmit(); }
    void on_link_closed(const Condition& condition, bool) override { on_lost(condition); }
    void on_link_gone(const Condition&) override {} // `on_session_ended` follows
    void on_flow() override { transmit(); }
    void on_disposition(DeliveryHandle delivery) override;

    void on_ready(SendId id, const core::Result<Engine*>& engine);
    [[nodiscard]] bool attach(Engine& engine);
    void transmit();
    void transmit_one(Sending& sending);
    void end_if_answered(Sends::iterator found);
    void conclude(SendId id, Errc why);
    void on_lost(const Condition& condition);
    [[nodiscard]] Failure interrupted(const Sending& sending, Failure why) const;
    void reply(Sends& from, Sends::iterator sending, std::optional<Failure> failure);

    core::EventLoop& loop_;
    const SenderTerms terms_;
    const WhenReady when_ready_;
    SessionPtr session_{};
    SenderLinkPtr link_{};
    Sends preparing_{}; // wait for the connection
    Sends queued_{};    // wait for credit
    Sends sent_{};      // wait for the broker's answer
    core::ReplyQueue replies_;
    const core::Anchor<SenderChannel> anchor_{*this};
};

} // namespace sessionq::amqp
