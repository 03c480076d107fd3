#include "in_process/consumer_mailbox.hpp"

namespace sessionq::in_process {

void ConsumerMailbox::ask(broker::AcceptSpec spec) {
    wait_ = queue_->accept(std::move(spec),
                           std::static_pointer_cast<ConsumerMailbox>(shared_from_this()),
                           turns_->now());
}

void ConsumerMailbox::cancel() {
    if (queue_->cancel_accept(wait_, turns_->now())) {
        on_refused(Failure{.code = Errc::cancelled, .detail = "the accept was given up"});
    }
}

void ConsumerMailbox::abandon() noexcept {
    owner_ = nullptr;
    abandoned_at_ = turns_->now();
    if (queue_->cancel_accept(wait_, abandoned_at_)) {
        return;
    }
    if ((notes_.fetch_or(abandoned, std::memory_order_seq_cst) & accepted) != 0) {
        queue_->close(*granted_, abandoned_at_);
    }
}

void ConsumerMailbox::turn() {
    if (owner_ == nullptr) {
        return;
    }
    const std::uint8_t notes = notes_.exchange(0, std::memory_order_seq_cst);
    owner_->on_turn({.accepted = (notes & accepted) != 0,
                     .refused = (notes & refused) != 0,
                     .work = (notes & work) != 0,
                     .lost = (notes & lost) != 0});
}

void ConsumerMailbox::on_accepted(broker::ConsumerPtr consumer) noexcept {
    granted_ = std::move(consumer);
    note(accepted);
}

void ConsumerMailbox::on_refused(Failure why) noexcept {
    refusal_ = std::make_unique<Failure>(std::move(why));
    note(refused);
}

void ConsumerMailbox::notify_work() noexcept { note(work); }

void ConsumerMailbox::on_lost(Failure why) noexcept {
    loss_ = std::make_unique<Failure>(std::move(why));
    note(lost);
}

void ConsumerMailbox::note(Note what) noexcept {
    const std::uint8_t before = notes_.fetch_or(what, std::memory_order_seq_cst);
    if ((before & abandoned) == 0) {
        turns_->notify(*this);
    } else if (what == accepted) { // of this and `abandon`, one sees the other's note
        queue_->close(*granted_, abandoned_at_);
    }
}

} // namespace sessionq::in_process
