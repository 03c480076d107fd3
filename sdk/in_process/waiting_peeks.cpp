// SPDX-License-Identifier: MIT
#include "in_process/waiting_peeks.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "timing/timer_service.hpp"

namespace sessionq::in_process {

/// The broker's handle to a waiting peek: brings its word to the loop. Outlives the peek while
/// another thread is calling it.
class WaitingPeeks::Bell final : public broker::BrowserTarget, public TurnTaker {
public:
    Bell(std::shared_ptr<TurnQueue> turns, core::WeakHandle<WaitingPeeks> owner,
         ports::RequestId id)
        : turns_{std::move(turns)}, owner_{std::move(owner)}, id_{id} {}

    // On any thread.
    void notify_message() noexcept override { turns_->notify(*this); }
    void on_deleted(Failure why) noexcept override {
        deletion_ = std::move(why); // the last call
        turns_->notify(*this);
    }

    void turn() override {
        if (WaitingPeeks* const owner = owner_.get()) {
            owner->look_again(id_, deletion_ ? &*deletion_ : nullptr);
        }
    }

private:
    const std::shared_ptr<TurnQueue> turns_;
    const core::WeakHandle<WaitingPeeks> owner_;
    const ports::RequestId id_;
    std::optional<Failure> deletion_{};
};

struct WaitingPeeks::Waiting {
    Waiting(WaitingPeeks& in, ports::RequestId number, broker::QueuePtr of, ports::PeekRequest what,
            ports::PeekHandler told)
        : owner{in},
          id{number},
          queue{std::move(of)},
          request{std::move(what)},
          handler{std::move(told)},
          bell{std::make_shared<Bell>(in.turns_, in.anchor_.handle(), number)} {}

    void expire() {
        const bool is_late = request.deadline.passed(owner.turns_->loop().now());
        const WaitingPtr self = owner.take(id);
        if (is_late) {
            handler(Failure{.code = Errc::timeout});
        } else {
            handler(std::vector<ReceivedMessage>{});
        }
    }

    WaitingPeeks& owner;
    const ports::RequestId id;
    const broker::QueuePtr queue;
    const ports::PeekRequest request;
    const ports::PeekHandler handler;
    const std::shared_ptr<Bell> bell;
    broker::OperationId told_by{0}; ///< the wait at the broker
    timing::Timer timer{timing::Timer::calling<&Waiting::expire>(this)};
};

WaitingPeeks::WaitingPeeks(std::shared_ptr<TurnQueue> turns, Confirmations& confirmations)
    : turns_{std::move(turns)}, confirmations_{confirmations} {}

WaitingPeeks::~WaitingPeeks() = default;

void WaitingPeeks::cancel() {
    while (!all_.empty()) {
        give_up(all_.begin()->first);
    }
}

ports::RequestId WaitingPeeks::add(broker::QueuePtr queue, ports::PeekRequest request,
                                   ports::PeekHandler handler) {
    const ports::RequestId id = confirmations_.next_id();
    const Deadline until =
        Deadline::after(request.wait, turns_->loop().now()).sooner(request.deadline);
    WaitingPtr& made = all_[id];
    made = std::make_unique<Waiting>(*this, id, std::move(queue), std::move(request),
                                     std::move(handler));
    Waiting& waiting = *made;
    if (!until.is_never()) {
        turns_->loop().timers().arm(waiting.timer, until.time());
    }
    wait(waiting);
    return id;
}

void WaitingPeeks::wait(Waiting& waiting) {
    waiting.told_by = waiting.queue->browse(
        {.from = waiting.request.from_sequence_number, .session_id = waiting.request.session_id},
        waiting.bell, turns_->now());
}

void WaitingPeeks::look_again(ports::RequestId id, const Failure* deletion) {
    const auto found = all_.find(id);
    if (found == all_.end()) {
        return; // answered meanwhile
    }
    if (deletion != nullptr) {
        take(id)->handler(*deletion);
        return;
    }
    Waiting& waiting = *found->second;
    auto messages =
        waiting.queue->peek(waiting.request.from_sequence_number, waiting.request.max_messages,
                            waiting.request.session_id, turns_->now());
    if (messages.empty()) { // a consumer was quicker
        wait(waiting);
    } else {
        take(id)->handler(std::move(messages));
    }
}

void WaitingPeeks::give_up(ports::RequestId id) {
    if (const WaitingPtr waiting = take(id)) {
        confirmations_.reply(waiting->handler, Failure{.code = Errc::cancelled});
    }
}

WaitingPeeks::WaitingPtr WaitingPeeks::take(ports::RequestId id) {
    auto node = all_.extract(id);
    if (!node) {
        return nullptr;
    }
    WaitingPtr taken = std::move(node.mapped());
    if (taken->told_by != 0) {
        taken->queue->cancel_browse(taken->told_by, turns_->now());
    }
    return taken;
}

} // namespace sessionq::in_process
