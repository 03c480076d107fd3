// SPDX-License-Identifier: MIT
#include "in_process/consumer_mailbox.hpp"

namespace sessionq::in_process {

void ConsumerMailbox::ask(broker::AcceptSpec spec) {
    wait_ = queue_->accept(std::move(spec),
                           std::static_pointer_cast<ConsumerMailbox>(shared_from_this()),
                           turns_->now());
}

void ConsumerMailbox::open(broker::ReceiveMode mode, int priority) {
    auto opened =
        queue_->open(mode, priority, std::static_pointer_cast<ConsumerMailbox>(shared_from_this()),
                     turns_->now());
    if (opened) {
        on_accepted(std::move(opened).value());
    } else {
        on_refused(opened.failure());
    }
}

void ConsumerMailbox::abandon() noexcept {
    owner_ = nullptr;
    abandoned_at_ = turns_->now();
    if (queue_->cancel_accept(wait_, abandoned_at_)) {
        return;
    }
    if ((notes_.fetch_or(News::abandoned, std::memory_order_seq_cst) & News::accepted) != 0) {
        queue_->close(*granted_, abandoned_at_);
    }
}

void ConsumerMailbox::turn() {
    if (owner_ != nullptr) {
        owner_->on_turn({notes_.exchange(0, std::memory_order_seq_cst)});
    }
}

void ConsumerMailbox::on_accepted(broker::ConsumerPtr consumer) noexcept {
    granted_ = std::move(consumer);
    note(News::accepted);
}

void ConsumerMailbox::fail(News::Note what, Failure&& why) noexcept {
    failure_ = std::make_unique<Failure>(std::move(why));
    note(what);
}

void ConsumerMailbox::note(News::Note what) noexcept {
    const std::uint8_t before = notes_.fetch_or(what, std::memory_order_seq_cst);
    if ((before & News::abandoned) == 0) {
        turns_->notify(*this);
    } else if (what == News::accepted) { // of this and `abandon`, one sees the other's note
        queue_->close(*granted_, abandoned_at_);
    }
}

} // namespace sessionq::in_process
