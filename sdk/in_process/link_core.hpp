#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/consumer_target.hpp"
#include "broker/journal.hpp"
#include "broker/queue.hpp"
#include "in_process/answers.hpp"
#include "in_process/pump.hpp"
#include "ports/endpoint.hpp"
#include "ports/session_link.hpp"

namespace sessionq::in_process {

/// One asking for a session, and the session that came of it: what the broker knows as a consumer's
/// target. Outlives the link as long as somebody on another thread is still telling it something.
/// Messages that are removed when received are handed out once that is kept, so that none comes
/// twice, however the process ends.
///
/// Bound to the loop's thread, but for the functions of `ConsumerTarget`, which take note and stir
/// the pump.
class LinkCore final : public broker::ConsumerTarget, public Pumped {
public:
    using AcceptDone = std::function<void(core::Result<broker::ConsumerPtr>)>;

    /// Without a journal everything is as durable as it gets. It lives as long as the queue.
    LinkCore(std::shared_ptr<Pump> pump, broker::QueuePtr queue, broker::Journal* journal = nullptr)
        : pump_{std::move(pump)}, queue_{std::move(queue)}, journal_{journal} {}

    // as an accept
    void ask(broker::AcceptSpec spec, AcceptDone done);
    /// Answers with `cancelled`, unless an answer is on its way.
    void cancel_ask();
    /// No answer is wanted any more: a session that comes is given back at once (R19).
    void abandon_ask() noexcept;

    // as a link
    [[nodiscard]] const std::string& session_id() const noexcept { return consumer_->session_id; }
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept {
        return {queue_->options().lock_duration};
    }
    void set_events(ports::LinkEvents& events) noexcept { events_ = &events; }
    void add_credit(std::uint32_t count);
    void drain();
    void settle(ports::Delivery& delivery, ports::Settlement&& settlement);
    /// False: the deadline has passed, and `handler` will hear so.
    template <typename T>
    [[nodiscard]] bool is_in_time(Deadline deadline,
                                  std::function<void(core::Result<T>)>& handler) {
        const bool in_time = !deadline.passed(pump_->now().now);
        if (!in_time) {
            answers().give<T>(std::move(handler), Failure{.code = Errc::timeout});
        }
        return in_time;
    }
    void renew_lock(ports::SessionLink::LockHandler handler);
    void get_state(ports::SessionLink::StateHandler handler);
    void set_state(std::optional<std::string> state, ports::SessionLink::DoneHandler handler);
    void receive_deferred(const std::vector<std::int64_t>& sequences,
                          ports::SessionLink::DeliveriesHandler handler);
    void close(ports::SessionLink::DoneHandler handler);
    /// The link is destroyed: closes it, says nothing more.
    void destroy() noexcept;

    void turn() override;

    void on_accepted(broker::ConsumerPtr consumer) noexcept override;
    void on_refused(Failure why) noexcept override;
    void notify_work() noexcept override;
    void on_lost(Failure why) noexcept override;

private:
    enum Signal : std::uint8_t { accepted = 1, refused = 2, work = 4, lost = 8, abandoned = 16 };

    struct Settling {
        ports::Delivery* delivery;
        broker::Outcome outcome;
        std::unique_ptr<broker::Changes> changes; // null: none
        bool is_done{false};
        std::optional<Errc> failed_with{};
    };

    void signal(Signal what) noexcept;
    void finish_ask(std::uint8_t signals);
    void apply_settlements();
    void say_settled();
    void say_settled(const std::vector<Settling>& done, const Failure* why);
    void deliver();
    void hand_out_once_kept(std::vector<broker::Delivered>& removed);
    void await_removal();
    void when_kept(std::function<void()> action);
    void say_drained();
    void say_lost();
    [[nodiscard]] bool is_flowing() const noexcept { return !is_dead_ && !is_closed_ && !is_lost_; }
    /// Messages are removed when they are handed out, and that is kept.
    [[nodiscard]] bool keeps_removals() const noexcept {
        return journal_ != nullptr && consumer_->mode == broker::ReceiveMode::receive_and_delete;
    }
    [[nodiscard]] ports::DeliveryPtr make_delivery(broker::Delivered& delivered) const;
    Answers& answers();

    const std::shared_ptr<Pump> pump_;
    const broker::QueuePtr queue_;
    broker::Journal* const journal_;

    // Written by whoever tells, before the signal; read by the loop after it.
    std::atomic<std::uint8_t> signals_{0};
    broker::ConsumerPtr granted_{};
    std::unique_ptr<Failure> refusal_{};
    std::unique_ptr<Failure> loss_{};
    broker::Instant abandoned_at_{}; // the other way round

    AcceptDone accept_done_{};
    broker::OperationId wait_{0};

    broker::ConsumerPtr consumer_{};
    ports::LinkEvents* events_{nullptr};
    std::uint32_t credit_{0};
    bool may_pull_{
        false}; // there may be messages: credit came, or word from the queue, or the last pull did not find the end
    bool is_draining_{false};
    bool is_lost_{false};
    bool is_loss_said_{false};
    bool is_closed_{false};
    bool is_dead_{false};
    std::vector<Settling> settling_{};
    bool has_changed_{false};                  // what is kept, by what is in settling_
    std::size_t unconfirmed_{0};               // batches of settlements that wait for the disk
    std::vector<broker::Delivered> removed_{}; // to be handed out when it is kept that they are
    bool awaits_removal_{false};               // of some of them
    std::shared_ptr<Answers> answers_{};       // made when first needed
    ports::SessionLink::DoneHandler close_handler_{};
};

} // namespace sessionq::in_process
