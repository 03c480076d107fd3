#include "in_process/local_link.hpp"

#include <iterator>
#include <utility>

namespace sessionq::in_process {

using Phase = LinkMachine::Phase;
using Kind = LinkMachine::Action::Kind;

LocalLink::LocalLink(std::shared_ptr<TurnQueue> turns, std::shared_ptr<ConsumerMailbox> mailbox,
                     broker::Journal* journal, MailboxNews news)
    : turns_{std::move(turns)},
      mailbox_{std::move(mailbox)},
      consumer_{mailbox_->take_granted()},
      journal_{journal} {
    mailbox_->set_owner(nullptr); // nothing is told before there are events
    if (news.lost) {
        machine_.lose();
    }
}

LocalLink::~LocalLink() {
    mailbox_->set_owner(nullptr);
    apply_settlements();
    mailbox_->queue()->close(*consumer_, turns_->now());
}

const std::string& LocalLink::session_id() const noexcept { return consumer_->session_id; }

ports::LockGrant LocalLink::initial_lock() const noexcept {
    return {mailbox_->queue()->options().lock_duration};
}

void LocalLink::set_events(ports::LinkEvents& events) {
    events_ = &events;
    mailbox_->set_owner(this);
    mailbox_->schedule();
}

void LocalLink::add_credit(std::uint32_t count) {
    machine_.add_credit(count);
    mailbox_->schedule();
}

void LocalLink::drain() {
    machine_.drain();
    mailbox_->schedule();
}

void LocalLink::settle(ports::Delivery& delivery, ports::Settlement settlement) {
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
    if (news.work) {
        machine_.work();
    }
    if (news.lost) {
        machine_.lose();
    }
    apply_settlements();
    machine_.begin_turn();
    if (tell_settled()) {
        while (perform()) {
        }
    }
}

/// Performs the machine's next action. False: it was the last of this turn.
bool LocalLink::perform() {
    const auto mailbox = mailbox_;
    const LinkMachine::Action action = machine_.next();
    switch (action.kind) {
    case Kind::none: return false;
    case Kind::later: mailbox_->schedule(); return false;
    case Kind::pull: return pull(action.count);
    case Kind::withdraw: mailbox_->queue()->withdraw(*consumer_, turns_->now()); break;
    case Kind::drained: events_->on_drained(); break;
    case Kind::lost: events_->on_lost(mailbox_->loss()); break;
    case Kind::closed: std::exchange(close_handler_, nullptr)(core::Done{}); break;
    }
    return mailbox->owner() == this;
}

bool LocalLink::pull(std::uint32_t count) {
    const auto mailbox = mailbox_;
    auto& delivered = turns_->scratch().delivered;
    delivered.clear();
    // Once the session has ended nothing comes, and the mailbox has been told.
    mailbox_->queue()->pull(*consumer_, count, delivered, turns_->now());
    machine_.pulled(static_cast<std::uint32_t>(delivered.size()));
    if (keeps_removals()) {
        machine_.hold(delivered.size());
        std::ranges::move(delivered, std::back_inserter(removed_));
        delivered.clear();
        commit_removals();
        return true;
    }
    for (broker::Delivered& each : delivered) {
        events_->on_delivery(make_delivery(each));
        if (mailbox->owner() != this) {
            return false;
        }
        if (machine_.phase() != Phase::open) {
            return true; // closing has put back the rest
        }
    }
    return true;
}

// Removal on receipt

bool LocalLink::keeps_removals() const noexcept {
    return journal_ != nullptr && consumer_->mode == broker::ReceiveMode::receive_and_delete;
}

/// One commit at a time, which many messages share.
void LocalLink::commit_removals() {
    const std::size_t count = machine_.begin_commit();
    if (count != 0) {
        when_kept([this, count] { deliver_kept(count); });
    }
}

/// While the disk refuses, this tries again: messages that are given back would come twice.
void LocalLink::when_kept(core::Task action) {
    confirmations().hold(
        [this, action = std::make_shared<core::Task>(std::move(action))](const Failure* why) {
            if (why == nullptr) {
                (*action)();
            } else {
                when_kept(std::move(*action));
            }
        });
}

void LocalLink::deliver_kept(std::size_t count) {
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
        events_->on_delivery(make_delivery(each));
    }
}

ports::DeliveryPtr LocalLink::make_delivery(broker::Delivered& delivered) const {
    ports::DeliveryPtr delivery = events_->new_delivery();
    delivery->message = std::move(delivered.message);
    delivery->bytes = delivered.bytes;
    delivery->port_tag = delivered.token;
    delivery->settled_by_sender = consumer_->mode == broker::ReceiveMode::receive_and_delete;
    return delivery;
}

// Settling

void LocalLink::apply_settlements() {
    settlements_.apply(*mailbox_->queue(), *consumer_, turns_->now(), journal_,
                       turns_->scratch().orders);
}

bool LocalLink::tell_settled() {
    if (!settlements_.has_outcomes()) {
        return true;
    }
    auto outcomes = settlements_.take_outcomes();
    if (settlements_.take_unkept()) {
        machine_.confirming();
        confirmations().hold([this, outcomes = std::make_shared<SettleOrderBook::Outcomes>(
                                        std::move(outcomes))](const Failure* why) {
            machine_.confirmed();
            if (tell(*outcomes, why)) {
                mailbox_->schedule(); // closing may wait for this
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

bool LocalLink::tell(const SettleOrderBook::Outcomes& outcomes, const Failure* why) {
    const auto mailbox = mailbox_;
    for (const SettleOrderBook::Outcome& each : outcomes) {
        if (each.failed_with) {
            const Failure failure{.code = *each.failed_with,
                                  .detail = "session '" + session_id() + "'"};
            events_->on_settled(*each.delivery, &failure);
        } else {
            events_->on_settled(*each.delivery, why);
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

template <typename T, typename Operation>
ports::RequestId LocalLink::request(Deadline deadline, std::function<void(core::Result<T>)> handler,
                                    Operation operation) {
    apply_settlements();
    const broker::Instant now = turns_->now();
    if (deadline.passed(now.now)) {
        return confirmations().reply<T>(std::move(handler), Failure{.code = Errc::timeout});
    }
    return operation(now, std::move(handler));
}

ports::RequestId LocalLink::renew_lock(Deadline deadline, LockHandler handler) {
    return request<ports::LockGrant>(
        deadline, std::move(handler), [&](broker::Instant now, LockHandler told) {
            auto until = mailbox_->queue()->renew(*consumer_, now);
            return confirmations().reply<ports::LockGrant>(
                std::move(told),
                until ? core::Result<ports::LockGrant>{ports::LockGrant{until.value() - now.now}}
                      : core::Result<ports::LockGrant>{until.failure()});
        });
}

ports::RequestId LocalLink::get_state(Deadline deadline, StateHandler handler) {
    using State = std::optional<std::string>;
    return request<State>(deadline, std::move(handler),
                          [&](broker::Instant now, StateHandler told) {
                              return confirmations().reply<State>(
                                  std::move(told), mailbox_->queue()->get_state(*consumer_, now));
                          });
}

ports::RequestId LocalLink::set_state(std::optional<std::string> state, Deadline deadline,
                                      DoneHandler handler) {
    return request<core::Done>(
        deadline, std::move(handler), [&](broker::Instant now, DoneHandler told) {
            return confirmations().confirm<core::Done>(
                std::move(told), mailbox_->queue()->set_state(*consumer_, std::move(state), now),
                deadline);
        });
}

/// Removed messages are delivered however long their removal takes to be kept: without the answer
/// they would be gone.
ports::RequestId LocalLink::receive_deferred(std::vector<std::int64_t> sequence_numbers,
                                             Deadline deadline, DeliveriesHandler handler) {
    return request<std::vector<ports::DeliveryPtr>>(
        deadline, std::move(handler), [&](broker::Instant now, DeliveriesHandler told) {
            std::vector<broker::Delivered> delivered;
            auto done =
                mailbox_->queue()->receive_deferred(*consumer_, sequence_numbers, delivered, now);
            const bool is_removed = done && keeps_removals();
            core::Task give = [this, told = std::move(told), done = std::move(done),
                               delivered = std::move(delivered)]() mutable {
                if (!done) {
                    told(done.failure());
                    return;
                }
                std::vector<ports::DeliveryPtr> deliveries;
                deliveries.reserve(delivered.size());
                for (broker::Delivered& each : delivered) {
                    deliveries.push_back(make_delivery(each));
                }
                told(std::move(deliveries));
            };
            if (is_removed) {
                when_kept(std::move(give));
            } else {
                confirmations().run_later(std::move(give));
            }
            return confirmations().next_id();
        });
}

void LocalLink::give_up(ports::RequestId id) {
    if (confirmations_) {
        confirmations_->give_up(id);
    }
}

} // namespace sessionq::in_process
