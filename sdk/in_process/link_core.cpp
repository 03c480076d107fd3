#include "in_process/link_core.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sessionq::in_process {
namespace {

// How many messages a link takes in one turn, so that thousands of links share a loop.
constexpr std::uint32_t messages_per_turn = 256;

broker::Outcome to_broker(ports::Outcome outcome) noexcept {
    switch (outcome) {
    case ports::Outcome::complete: return broker::Outcome::complete;
    case ports::Outcome::abandon: return broker::Outcome::abandon;
    case ports::Outcome::release: return broker::Outcome::release;
    case ports::Outcome::defer: return broker::Outcome::defer;
    case ports::Outcome::dead_letter: return broker::Outcome::dead_letter;
    }
    return broker::Outcome::release;
}

std::unique_ptr<broker::Changes> changes_of(ports::Settlement&& settlement) {
    if (settlement.outcome == ports::Outcome::complete ||
        settlement.outcome == ports::Outcome::release) {
        return nullptr;
    }
    if (settlement.outcome != ports::Outcome::dead_letter &&
        settlement.properties_to_modify.empty()) {
        return nullptr;
    }
    return std::make_unique<broker::Changes>(
        broker::Changes{.dead_letter = std::move(settlement.dead_letter),
                        .properties = std::move(settlement.properties_to_modify)});
}

} // namespace

// ---- the accept

void LinkCore::ask(broker::AcceptSpec spec, AcceptDone done) {
    accept_done_ = std::move(done);
    wait_ = queue_->accept(std::move(spec), std::static_pointer_cast<LinkCore>(shared_from_this()),
                           pump_->now());
}

void LinkCore::cancel_ask() {
    if (queue_->cancel_accept(wait_, pump_->now())) {
        on_refused(Failure{.code = Errc::cancelled, .detail = "the accept was given up"});
    }
}

void LinkCore::abandon_ask() noexcept {
    accept_done_ = nullptr;
    is_dead_ = true;
    abandoned_at_ = pump_->now();
    if (queue_->cancel_accept(wait_, abandoned_at_)) {
        return;
    }
    if ((signals_.fetch_or(abandoned, std::memory_order_seq_cst) & accepted) != 0) {
        queue_->close(*granted_, abandoned_at_);
    }
}

void LinkCore::on_accepted(broker::ConsumerPtr consumer) noexcept {
    granted_ = std::move(consumer);
    signal(accepted);
}

void LinkCore::on_refused(Failure why) noexcept {
    refusal_ = std::make_unique<Failure>(std::move(why));
    signal(refused);
}

void LinkCore::notify_work() noexcept { signal(work); }

void LinkCore::on_lost(Failure why) noexcept {
    loss_ = std::make_unique<Failure>(std::move(why));
    signal(lost);
}

void LinkCore::signal(Signal what) noexcept {
    const std::uint8_t before = signals_.fetch_or(what, std::memory_order_seq_cst);
    if ((before & abandoned) == 0) {
        pump_->stir(*this);
    } else if (what == accepted) { // of this and `abandon_ask`, one sees the other
        queue_->close(*granted_, abandoned_at_);
    }
}

void LinkCore::finish_ask(std::uint8_t signals) {
    const AcceptDone done = std::exchange(accept_done_, nullptr);
    if ((signals & accepted) != 0) {
        consumer_ = std::move(granted_);
        done(consumer_);
    } else {
        is_dead_ = true;
        done(std::move(*refusal_));
    }
}

// ---- the link

void LinkCore::turn() {
    if (is_dead_) {
        return;
    }
    const std::uint8_t signals = signals_.exchange(0, std::memory_order_seq_cst);
    if ((signals & (accepted | refused)) != 0) {
        finish_ask(signals);
    }
    may_pull_ = may_pull_ || (signals & work) != 0;
    is_lost_ = is_lost_ || (signals & lost) != 0;
    apply_settlements();
    say_settled();
    deliver();
    say_drained();
    say_lost();
    if (!is_dead_ && close_handler_ && unconfirmed_ == 0) {
        const auto handler = std::exchange(close_handler_, nullptr);
        handler(core::Done{});
    }
}

void LinkCore::add_credit(std::uint32_t count) {
    credit_ += count;
    may_pull_ = true;
    pump_->schedule(*this);
}

void LinkCore::drain() {
    is_draining_ = true;
    may_pull_ = true;
    pump_->schedule(*this);
}

void LinkCore::deliver() {
    if (!is_flowing() || !may_pull_ || credit_ == 0) {
        return;
    }
    const std::uint32_t wanted = std::min(credit_, messages_per_turn);
    auto& delivered = pump_->scratch().delivered;
    delivered.clear();
    queue_->pull(*consumer_, wanted, delivered,
                 pump_->now()); // if it has ended, its target has been told
    credit_ -= static_cast<std::uint32_t>(delivered.size());
    may_pull_ = delivered.size() == wanted;
    if (keeps_removals()) {
        hand_out_once_kept(delivered);
        delivered.clear();
    }
    for (broker::Delivered& one : delivered) {
        events_->on_delivery(make_delivery(one));
        if (!is_flowing()) {
            return; // closing has put back the rest
        }
    }
    if (may_pull_ && credit_ > 0) {
        pump_->schedule(*this);
    }
}

void LinkCore::hand_out_once_kept(std::vector<broker::Delivered>& removed) {
    std::ranges::move(removed, std::back_inserter(removed_));
    await_removal();
}

// One commit at a time, which many share.
void LinkCore::await_removal() {
    if (removed_.empty() || awaits_removal_) {
        return;
    }
    awaits_removal_ = true;
    when_kept([this, count = static_cast<std::ptrdiff_t>(removed_.size())] {
        awaits_removal_ = false;
        std::vector<broker::Delivered> kept{std::move_iterator{removed_.begin()},
                                            std::move_iterator{removed_.begin() + count}};
        removed_.erase(removed_.begin(), removed_.begin() + count);
        await_removal();
        pump_->schedule(*this); // a drain, or a loss, may wait for this
        for (broker::Delivered& one : kept) {
            if (is_dead_ || is_closed_) {
                return;
            }
            events_->on_delivery(make_delivery(one));
        }
    });
}

// While the disk refuses it is tried again and again.
void LinkCore::when_kept(std::function<void()> action) {
    answers().hold(
        [this, self = shared_from_this(), action = std::move(action)](const Failure* why) {
            if (why == nullptr) {
                action();
            } else {
                when_kept(action);
            }
        });
}

ports::DeliveryPtr LinkCore::make_delivery(broker::Delivered& delivered) const {
    ports::DeliveryPtr delivery = events_->new_delivery();
    delivery->message = std::move(delivered.message);
    delivery->bytes = delivered.bytes;
    delivery->port_tag = delivered.token;
    delivery->settled_by_sender = consumer_->mode == broker::ReceiveMode::receive_and_delete;
    return delivery;
}

void LinkCore::say_drained() {
    if (!is_flowing() || !is_draining_ || (may_pull_ && credit_ > 0) || !removed_.empty()) {
        return;
    }
    is_draining_ = false;
    if (std::exchange(credit_, 0) > 0) {
        queue_->withdraw(*consumer_, pump_->now());
    }
    events_->on_drained();
}

void LinkCore::say_lost() {
    if (is_dead_ || is_closed_ || !is_lost_ || is_loss_said_ || events_ == nullptr ||
        !removed_.empty()) {
        return;
    }
    is_loss_said_ = true;
    events_->on_lost(*loss_);
}

void LinkCore::settle(ports::Delivery& delivery, ports::Settlement&& settlement) {
    const broker::Outcome outcome = to_broker(settlement.outcome);
    settling_.push_back(
        {.delivery = &delivery, .outcome = outcome, .changes = changes_of(std::move(settlement))});
    pump_->schedule(*this);
}

void LinkCore::apply_settlements() {
    auto& orders = pump_->scratch().orders;
    orders.clear();
    for (const Settling& one : settling_) {
        if (!one.is_done) {
            orders.push_back({.token = one.delivery->port_tag,
                              .outcome = one.outcome,
                              .changes = one.changes.get()});
        }
    }
    if (orders.empty()) {
        return;
    }
    const auto before = journal_ != nullptr ? journal_->last() : 0;
    queue_->settle(*consumer_, orders, pump_->now());
    has_changed_ = has_changed_ || (journal_ != nullptr && journal_->last() != before);
    auto order = orders.begin();
    for (Settling& one : settling_) {
        if (!one.is_done) {
            one.failed_with = (order++)->failed_with;
            one.is_done = true;
        }
    }
}

void LinkCore::say_settled() {
    if (is_dead_ || settling_.empty()) {
        return;
    }
    std::vector<Settling> done = std::move(settling_);
    settling_.clear();
    if (std::exchange(has_changed_, false)) {
        ++unconfirmed_;
        answers().hold([this, done = std::make_shared<std::vector<Settling>>(std::move(done))](
                           const Failure* why) {
            --unconfirmed_;
            say_settled(*done, why);
            pump_->schedule(*this); // closing may wait for this
        });
        return;
    }
    say_settled(done, nullptr);
    if (!is_dead_ && settling_.empty()) { // keeps the memory for the next turn
        done.clear();
        settling_ = std::move(done);
    }
}

void LinkCore::say_settled(const std::vector<Settling>& done, const Failure* why) {
    for (const Settling& one : done) {
        if (one.failed_with) {
            const Failure failure{.code = *one.failed_with,
                                  .detail = "session '" + session_id() + "'"};
            events_->on_settled(*one.delivery, &failure);
        } else {
            events_->on_settled(*one.delivery, why);
        }
        if (is_dead_) {
            return;
        }
    }
}

void LinkCore::renew_lock(ports::SessionLink::LockHandler handler) {
    apply_settlements();
    const broker::Instant now = pump_->now();
    auto until = queue_->renew(*consumer_, now);
    answers().give<ports::LockGrant>(
        std::move(handler),
        until ? core::Result<ports::LockGrant>{ports::LockGrant{until.value() - now.now}}
              : core::Result<ports::LockGrant>{until.failure()});
}

void LinkCore::get_state(ports::SessionLink::StateHandler handler) {
    apply_settlements();
    answers().give<std::optional<std::string>>(std::move(handler),
                                               queue_->get_state(*consumer_, pump_->now()));
}

void LinkCore::set_state(std::optional<std::string> state,
                         ports::SessionLink::DoneHandler handler) {
    apply_settlements();
    answers().confirm<core::Done>(std::move(handler),
                                  queue_->set_state(*consumer_, std::move(state), pump_->now()));
}

void LinkCore::receive_deferred(const std::vector<std::int64_t>& sequences,
                                ports::SessionLink::DeliveriesHandler handler) {
    apply_settlements();
    std::vector<broker::Delivered> delivered;
    auto done = queue_->receive_deferred(*consumer_, sequences, delivered, pump_->now());
    const bool is_removed = done && keeps_removals();
    auto give = [this, handler = std::move(handler), done = std::move(done),
                 delivered = std::move(delivered)]() mutable {
        if (!done) {
            handler(done.failure());
            return;
        }
        std::vector<ports::DeliveryPtr> deliveries;
        deliveries.reserve(delivered.size());
        for (broker::Delivered& one : delivered) {
            deliveries.push_back(make_delivery(one));
        }
        handler(std::move(deliveries));
    };
    if (is_removed) {
        when_kept(std::move(give));
    } else {
        answers().later(std::move(give));
    }
}

Answers& LinkCore::answers() {
    if (!answers_) {
        answers_ = std::make_shared<Answers>(pump_, journal_);
    }
    return *answers_;
}

void LinkCore::close(ports::SessionLink::DoneHandler handler) {
    apply_settlements();
    queue_->close(*consumer_, pump_->now());
    is_closed_ = true;
    close_handler_ = std::move(handler);
    pump_->schedule(*this);
}

void LinkCore::destroy() noexcept {
    if (!is_closed_) {
        apply_settlements();
        queue_->close(*consumer_, pump_->now());
    }
    is_dead_ = true;
    settling_.clear();
    close_handler_ = nullptr;
    if (answers_) {
        answers_->drop();
    }
}

} // namespace sessionq::in_process
