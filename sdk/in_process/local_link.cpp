// SPDX-License-Identifier: MIT
#include "in_process/local_link.hpp"

#include <iterator>
#include <utility>

namespace sessionq::in_process {

using Phase = LinkMachine::Phase;
using Kind = LinkMachine::Action::Kind;

namespace {

/// Whether messages that are received are gone for good, and a journal keeps that.
bool keeps_removals(const broker::Consumer& consumer, const broker::Journal* journal) noexcept {
    return journal != nullptr && consumer.mode == broker::ReceiveMode::receive_and_delete;
}

/// Of a session, or of a message on its own.
Duration lock_length(const ConsumerMailbox& mailbox) noexcept {
    return mailbox.queue()->options().lock_duration;
}

/// `lock` is the length of locks at the entity.
ports::DeliveryPtr make_delivery(ports::LinkEvents& events, const broker::Consumer& consumer,
                                 Duration lock, broker::Delivered& delivered) {
    ports::DeliveryPtr delivery = events.new_delivery();
    delivery->message = std::move(delivered.message);
    delivery->bytes = delivered.bytes;
    delivery->holder_lost = delivered.holder_lost;
    delivery->port_tag = delivered.token;
    delivery->settled_by_sender = consumer.mode == broker::ReceiveMode::receive_and_delete;
    if (!consumer.has_session && !delivery->settled_by_sender) {
        delivery->lock = lock;
    }
    return delivery;
}

} // namespace

LocalLink::LocalLink(std::shared_ptr<TurnQueue> turns, std::shared_ptr<ConsumerMailbox> mailbox,
                     broker::Journal* journal, MailboxNews news, std::size_t entity_index)
    : turns_{std::move(turns)},
      mailbox_{std::move(mailbox)},
      consumer_{mailbox_->take_granted()},
      journal_{journal},
      entity_index_{entity_index} {
    mailbox_->set_owner(nullptr); // nothing is told before there are events
    if (news.has(MailboxNews::lost)) {
        machine_.lose();
    }
}

LocalLink::~LocalLink() {
    mailbox_->set_owner(nullptr);
    apply_settlements();
    // No effect if it was closed. Locks of messages outlive a consumer that vanishes, but here
    // nobody is left who could use them.
    if (consumer_->has_session) {
        mailbox_->queue()->vanish(*consumer_, turns_->now());
    } else {
        mailbox_->queue()->close(*consumer_, turns_->now());
    }
}

const std::string& LocalLink::session_id() const noexcept { return consumer_->session_id; }

ports::LockGrant LocalLink::initial_lock() const noexcept {
    return consumer_->has_session ? ports::LockGrant{lock_length(*mailbox_)} : ports::LockGrant{};
}

ports::FirstCredit LocalLink::set_events(ports::LinkEvents& events) {
    events_ = &events;
    mailbox_->set_owner(this);
    mailbox_->schedule();
    return {}; // nothing travels, so nothing is saved
}

void LocalLink::add_credit(std::uint32_t count) {
    machine_.add_credit(count);
    mailbox_->schedule();
}

void LocalLink::drain() {
    machine_.drain();
    mailbox_->schedule();
}

void LocalLink::settle(ports::Delivery& delivery, ports::Settlement&& settlement) {
    settlements_.add(delivery, std::move(settlement));
    mailbox_->schedule();
}

void LocalLink::close(DoneHandler handler) {
    apply_settlements();
    mailbox_->queue()->close(*consumer_, turns_->now());
    machine_.close();
    close_handler_ = std::move(handler);
    mailbox_->set_owner(this);
    mailbox_->schedule();
}

void LocalLink::on_turn(MailboxNews news) {
    if (news.has(MailboxNews::work)) {
        machine_.work();
    }
    if (news.has(MailboxNews::lost)) {
        machine_.lose();
    }
    apply_settlements();
    machine_.begin_turn();
    const auto mailbox = mailbox_;
    for (bool is_here = tell_settled(); is_here; is_here = mailbox->owner() == this) {
        const LinkMachine::Action action = machine_.next();
        switch (action.kind) {
        case Kind::none: return;
        case Kind::later: mailbox_->schedule(); return;
        case Kind::pull:
            if (!pull(action.count)) {
                return;
            }
            break;
        case Kind::withdraw: mailbox_->queue()->withdraw(*consumer_, turns_->now()); break;
        case Kind::drained: events_->on_drained(); break;
        case Kind::lost: events_->on_lost(mailbox_->failure()); break;
        case Kind::closed: std::exchange(close_handler_, nullptr)(core::Done{}); break;
        }
    }
}

bool LocalLink::pull(std::uint32_t count) {
    const auto mailbox = mailbox_;
    auto& delivered = turns_->scratch();
    delivered.clear();
    // Once the session has ended nothing comes, and the mailbox has been told.
    mailbox_->queue()->pull(*consumer_, count, delivered, turns_->now());
    machine_.pulled(static_cast<std::uint32_t>(delivered.size()));
    if (keeps_removals(*consumer_, journal_)) {
        machine_.hold(delivered.size());
        std::ranges::move(delivered, std::back_inserter(removed_));
        delivered.clear();
        commit_removals();
        return true;
    }
    for (broker::Delivered& each : delivered) {
        events_->on_delivery(make_delivery(*events_, *consumer_, lock_length(*mailbox_), each));
        if (mailbox->owner() != this) {
            return false;
        }
        if (machine_.phase() != Phase::open) {
            return true; // closing has put back the rest
        }
    }
    return true;
}

/// One commit at a time, which many messages share.
void LocalLink::commit_removals() {
    const std::size_t count = machine_.begin_commit();
    if (count == 0) {
        return;
    }
    confirmations().when_kept([this, count] {
        const auto mailbox = mailbox_;
        const auto end = removed_.begin() + static_cast<std::ptrdiff_t>(count);
        std::vector<broker::Delivered> kept{std::move_iterator{removed_.begin()},
                                            std::move_iterator{end}};
        removed_.erase(removed_.begin(), end);
        machine_.committed();
        commit_removals();
        mailbox_->schedule(); // a drain, or a loss, may wait for this
        for (broker::Delivered& each : kept) {
            if (mailbox->owner() != this || !machine_.delivers_held()) {
                return;
            }
            events_->on_delivery(make_delivery(*events_, *consumer_, lock_length(*mailbox_), each));
        }
    });
}

// Settling

void LocalLink::apply_settlements() {
    settlements_.apply(*mailbox_->queue(), *consumer_, turns_->now(), journal_);
}

bool LocalLink::tell_settled() {
    if (settlements_.empty()) {
        return true;
    }
    auto outcomes = settlements_.take_outcomes();
    if (settlements_.take_unkept()) {
        machine_.confirming();
        confirmations().hold([this, outcomes = std::make_shared<SettleOrderBook::Batch>(
                                        std::move(outcomes))](const Failure* why) {
            machine_.confirmed();
            if (tell(*outcomes, why)) {
                mailbox_->schedule(); // closing, or a loss, may wait for this
            }
        });
        return true;
    }
    if (!tell(outcomes, nullptr)) {
        return false;
    }
    settlements_.recycle(std::move(outcomes));
    return true;
}

bool LocalLink::tell(const SettleOrderBook::Batch& outcomes, const Failure* why) {
    const auto mailbox = mailbox_;
    auto delivery = outcomes.deliveries.begin();
    for (const broker::SettleOrder& each : outcomes.orders) {
        if (each.failed_with) {
            const Failure failure{.code = *each.failed_with,
                                  .detail = consumer_->has_session
                                                ? "session '" + session_id() + "'"
                                                : "'" + mailbox_->queue()->name() + "'"};
            events_->on_settled(**delivery++, &failure);
        } else {
            events_->on_settled(**delivery++, why);
        }
        if (mailbox->owner() != this) {
            return false;
        }
    }
    return true;
}

// Requests

Confirmations& LocalLink::confirmations() {
    if (!confirmations_) {
        confirmations_ = std::make_unique<Confirmations>(turns_.shared(), journal_);
    }
    return *confirmations_;
}

ports::RequestId LocalLink::renew_lock(Deadline deadline, LockHandler handler) {
    using Grant = core::Result<ports::LockGrant>;
    return confirmations().reply(
        std::move(handler),
        perform<ports::LockGrant>(deadline, [this](broker::Queue& queue, broker::Instant now) {
            const auto until = queue.renew(*consumer_, now);
            return until ? Grant{ports::LockGrant{until.value() - now.now}} : until.failure();
        }));
}

ports::RequestId LocalLink::get_state(Deadline deadline, StateHandler handler) {
    return confirmations().reply(std::move(handler),
                                 perform<std::optional<std::string>>(
                                     deadline, [this](broker::Queue& queue, broker::Instant now) {
                                         return queue.get_state(*consumer_, now);
                                     }));
}

ports::RequestId LocalLink::set_state(std::optional<std::string> state, Deadline deadline,
                                      DoneHandler handler) {
    return confirmations().confirm(
        std::move(handler),
        perform<core::Done>(deadline,
                            [&](broker::Queue& queue, broker::Instant now) {
                                return queue.set_state(*consumer_, std::move(state), now);
                            }),
        deadline);
}

/// Removed messages are delivered however long their removal takes to be kept: without the answer
/// they would be gone.
ports::RequestId LocalLink::receive_deferred(std::vector<std::int64_t> sequence_numbers,
                                             Deadline deadline, DeliveriesHandler handler) {
    std::vector<broker::Delivered> delivered;
    const auto done = perform<core::Done>(deadline, [&](broker::Queue& queue, broker::Instant now) {
        return queue.receive_deferred(*consumer_, sequence_numbers, delivered, now);
    });
    if (!done) {
        return confirmations().reply(std::move(handler), done.failure());
    }
    core::Task give = [this, handler = std::move(handler),
                       delivered = std::move(delivered)]() mutable {
        std::vector<ports::DeliveryPtr> deliveries;
        deliveries.reserve(delivered.size());
        for (broker::Delivered& each : delivered) {
            deliveries.push_back(make_delivery(*events_, *consumer_, lock_length(*mailbox_), each));
        }
        handler(std::move(deliveries));
    };
    if (keeps_removals(*consumer_, journal_)) {
        confirmations().when_kept(std::move(give));
    } else {
        confirmations().run_later(std::move(give));
    }
    return confirmations().next_id();
}

void LocalLink::give_up(ports::RequestId id) {
    if (confirmations_) {
        confirmations_->give_up(id);
    }
}

} // namespace sessionq::in_process
