#include "client/session_receiver_core.hpp"

#include <algorithm>
#include <utility>

#include "client/receiver_set.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::client {

SessionReceiverCore::SessionReceiverCore(const Home& home, std::string entity,
                                         const SessionReceiverOptions& options,
                                         ports::SessionLinkPtr link, TimePoint asked)
    : home_{home},
      options_{options},
      status_{std::make_shared<SessionStatus>(home.loop, std::move(entity), link->session_id())},
      link_{std::move(link)},
      queue_{options.receive_and_delete},
      progress_{options.receive_and_delete ? Duration::zero() : options.max_lock_renewal} {
    status_->set_receiver(this);
    link_->set_events(*this);
    lock_.accepted(asked, home.loop.now(), link_->initial_lock());
}

SessionReceiverCore::~SessionReceiverCore() {
    link_.reset(); // refers to the deliveries
    settling_.fail_all(Failure{.code = Errc::lock_lost,
                               .detail = "session '" + status_->session_id() +
                                         "' ended before the broker confirmed",
                               .outcome_unknown = true});
}

// Messages

void SessionReceiverCore::receive(PendingPtr<Deliveries> pending, std::size_t max,
                                  bool present_only) {
    queue_.want(std::move(pending), max, present_only);
    serve();
}

void SessionReceiverCore::forget(const PendingBase& pending) {
    queue_.forget(pending);
    serve();
}

void SessionReceiverCore::on_delivery(ports::DeliveryPtr delivery) {
    if (queue_.delivered(std::move(delivery))) {
        // By a later turn, so that messages that come together are handed out together.
        home_.loop.post([status = status_] {
            if (SessionReceiverCore* there = status->receiver()) {
                there->serve();
            }
        });
    }
}

void SessionReceiverCore::on_drained() {
    queue_.drained();
    serve();
    perform(machine_.drained(), {});
}

void SessionReceiverCore::serve() {
    progress_.received(queue_.serve(), home_.loop.now());
    if (!is_open()) {
        return;
    }
    const ReceiveQueue::Flow flow = queue_.next_flow();
    if (flow.credit > 0) {
        link_->add_credit(flow.credit);
    }
    if (flow.drain) {
        link_->drain();
    }
}

void SessionReceiverCore::receive_deferred(std::vector<std::int64_t> sequence_numbers,
                                           const PendingPtr<Deliveries>& pending) {
    ask(pending, [&](ports::SessionLink& link, Deadline deadline, AnswerTo<Deliveries> answer_to) {
        return link.receive_deferred(
            std::move(sequence_numbers), deadline,
            [this, pending, answer_to = std::move(answer_to)](core::Result<Deliveries> answer) {
                if (answer && !pending->ended()) {
                    progress_.received(answer.value().size(), home_.loop.now());
                }
                answer_to(std::move(answer));
            });
    });
}

void SessionReceiverCore::settle(std::shared_ptr<HeldDelivery> delivery,
                                 ports::Settlement settlement, PendingPtr<core::Done> pending) {
    link_->settle(settling_.add(std::move(delivery), std::move(pending)), std::move(settlement));
    progress_.settled(home_.loop.now());
    if (options_.max_lock_renewal > Duration::zero()) {
        look(); // a renewal that was held back may be due
    }
}

void SessionReceiverCore::on_settled(ports::Delivery& delivery, const Failure* failure) {
    settling_.answer(static_cast<HeldDelivery&>(delivery), failure);
}

// Lock

void SessionReceiverCore::renew_lock(const PendingPtr<Deadline>& pending) {
    ask(pending, [this](ports::SessionLink& link, Deadline deadline, AnswerTo<Deadline> answer_to) {
        return link.renew_lock(deadline,
                               [this, answer_to = std::move(answer_to),
                                asked = home_.loop.now()](core::Result<ports::LockGrant> answer) {
                                   if (!answer) {
                                       answer_to(answer.failure());
                                       return;
                                   }
                                   lock_.granted(asked, answer.value());
                                   look();
                                   answer_to(lock_.expires());
                               });
    });
}

void SessionReceiverCore::on_lock_uncertain() {
    lock_.became_uncertain(home_.loop.now());
    arm();
}

void SessionReceiverCore::look() {
    const TimePoint now = home_.loop.now();
    status_->set_lock_expires(lock_.expires());
    perform(lock_.look(now, options_.renew_lock && is_open() && !progress_.is_slow(now)),
            Failure{.code = Errc::lock_lost,
                    .detail = "the lock of session '" + status_->session_id() + "' expired"});
    perform(machine_.look(now), Failure{.code = Errc::cancelled});
    arm();
}

void SessionReceiverCore::arm() {
    if (machine_.phase() == ReceiverMachine::Phase::ended) {
        home_.loop.timers().cancel(timer_);
    } else {
        home_.loop.timers().set_due(timer_, std::min(machine_.next(), lock_.next()));
    }
}

void SessionReceiverCore::perform(const ports::LockActions& actions, const Failure& loss) {
    if (actions.warn) {
        status_->fire_stop(home_.notifier);
    }
    if (actions.renew) {
        link_->renew_lock(lock_.expires(),
                          [this, asked = home_.loop.now()](core::Result<ports::LockGrant> answer) {
                              perform(lock_.answered(asked, home_.loop.now(), answer),
                                      answer ? Failure{} : answer.failure());
                              look();
                          });
    }
    if (actions.lost) {
        perform(machine_.lost(), loss);
    }
}

// The end

void SessionReceiverCore::close(PendingPtr<core::Done> pending) {
    if (pending != nullptr) {
        closers_.push_back(std::move(pending));
    }
    if (!is_open()) {
        return;
    }
    if (queue_.last_flow().drain) {
        link_->drain();
    }
    perform(machine_.close(home_.loop.now(), queue_.is_draining()),
            Failure{.code = Errc::cancelled,
                    .detail = "the receiver of session '" + status_->session_id() + "' is closed"});
    arm();
}

void SessionReceiverCore::on_lost(const Failure& reason) { perform(machine_.lost(), reason); }

void SessionReceiverCore::perform(const ReceiverActions& actions, const Failure& why) {
    if (actions.refuse) {
        status_->set_loss(why);
        status_->fire_stop(home_.notifier);
        queue_.fail_all(why);
    }
    if (actions.detach) {
        link_->close([this](const core::Result<core::Done>& /*answer*/) {
            perform(machine_.detached(), Failure{.code = Errc::cancelled});
        });
    }
    if (actions.end) {
        status_->set_receiver(nullptr);
        arm();
        for (const auto& closer : std::exchange(closers_, {})) {
            closer->complete(core::Done{});
        }
        home_.receivers.retire(*this);
    }
}

} // namespace sessionq::client
