// SPDX-License-Identifier: MIT
#include "client/receiving/session_receiver_core.hpp"

#include <algorithm>
#include <utility>

#include "timing/timer_service.hpp"

namespace sessionq::detail::client {
SessionReceiverCore::SessionReceiverCore(const Home& home, std::string entity,
                                         const ReceiverSettings& settings,
                                         ports::SessionLinkPtr link, TimePoint asked)
    : home_{home},
      settings_{settings},
      status_{std::make_shared<SessionStatus>(home.loop, std::move(entity), link->session_id(),
                                              settings.scope)},
      link_{std::move(link)},
      book_{settings.removes(), settings.prefetch},
      progress_{settings.removes() ? Duration::zero() : settings.max_lock_renewal} {
    status_->set_receiver(this);
    using Renewal = ports::OwnLocks::Renewal;
    link_.keep_message_locks(home.loop, home.notifier,
                             {.renewal = settings.renews ? Renewal::automatic : Renewal::by_hand,
                              .max_renewal = settings.max_lock_renewal});
    link_->set_events(*this);
    lock_.accepted(asked, home.loop.now(), link_->initial_lock());
    serve(); // prefetches
}

SessionReceiverCore::~SessionReceiverCore() {
    link_.drop(); // first, because the link refers to the deliveries
    settling_.fail_all(Failure{.code = Errc::lock_lost,
                               .detail = status_->title() + " ended before the broker confirmed",
                               .outcome_unknown = true});
}

/// Calls `request`, which makes a request at the link and returns its id. If the operation is given
/// up later, gives up this request at the link.
template <typename Request>
void SessionReceiverCore::ask(PendingBase& pending, Request request) {
    pending.ask_port([status = status_, id = ports::RequestId{request()}] {
        if (SessionReceiverCore* there = status->receiver()) {
            there->link_->give_up(id);
        }
    });
}

/// Sets how an operation on the session's state is given up: by giving up the request `id` of the
/// state.
template <typename T>
void SessionReceiverCore::ask_state(const PendingPtr<T>& pending, ports::RequestId id) {
    pending->ask_port([status = status_, id] {
        if (SessionReceiverCore* there = status->receiver()) {
            there->link_.state().give_up(id);
        }
    });
}

// Messages

void SessionReceiverCore::receive(const PendingPtr<Deliveries>& pending, std::size_t max,
                                  bool present_only) {
    pending->on_give_up(
        [status = status_, raw = pending.get()](Failure failure) -> core::Result<Deliveries> {
            if (SessionReceiverCore* there = status->receiver()) {
                there->book_.forget(*raw);
                there->serve();
            }
            return answer_in_vain(std::move(failure));
        });
    book_.want(pending, max, present_only);
    serve();
}

void SessionReceiverCore::on_delivery(ports::DeliveryPtr delivery) {
    static_cast<HeldDelivery&>(*delivery).own_lock = link_.lock_of(*delivery);
    if (book_.delivered(std::move(delivery))) {
        // In a later task, so that messages that come together answer one call.
        home_.loop.post([status = status_] {
            if (SessionReceiverCore* there = status->receiver()) {
                there->serve();
            }
        });
    }
}

void SessionReceiverCore::on_drained() {
    book_.drained();
    serve();
    perform(machine_.drained(), {});
}

void SessionReceiverCore::serve() {
    book_.drop([](const ports::Delivery& each) {
        return static_cast<const HeldDelivery&>(each).is_lost();
    });
    for (ReceiveBook::Answer& answer : book_.serve()) {
        progress_.received(answer.messages.size(), home_.loop.now());
        for (const ports::DeliveryPtr& each : answer.messages) {
            link_.restart(static_cast<const HeldDelivery&>(*each).own_lock.get());
        }
        answer.pending->complete(std::move(answer.messages));
    }
    if (!is_open()) {
        return;
    }
    const ReceiveBook::Flow flow = book_.next_flow();
    if (flow.credit > 0) {
        link_->add_credit(flow.credit);
    }
    if (flow.drain) {
        link_->drain();
    }
}

void SessionReceiverCore::receive_deferred(const PendingPtr<Deliveries>& pending,
                                           std::vector<std::int64_t> sequence_numbers) {
    if (sequence_numbers.empty()) {
        pending->complete(Deliveries{});
        return;
    }
    ports::SessionLink::DeliveriesHandler take =
        [this, pending, answer_to = AnswerTo<Deliveries>{pending, Errc::lock_lost}](
            core::Result<Deliveries> answer) {
            if (answer && !pending->ended()) {
                progress_.received(answer.value().size(), home_.loop.now());
                for (const ports::DeliveryPtr& each : answer.value()) {
                    static_cast<HeldDelivery&>(*each).own_lock = link_.lock_of(*each);
                }
            }
            answer_to(std::move(answer));
        };
    ask(*pending, [&] {
        return link_->receive_deferred(std::move(sequence_numbers), pending->deadline(),
                                       std::move(take));
    });
}

void SessionReceiverCore::settle(const PendingPtr<core::Done>& pending,
                                 std::shared_ptr<HeldDelivery> delivery,
                                 ports::Settlement settlement) {
    ports::OwnLock* const lock = delivery->own_lock.get();
    link_.settle(settling_.add(std::move(delivery), pending), std::move(settlement), lock);
    progress_.settled(home_.loop.now());
    if (settings_.max_lock_renewal > Duration::zero()) {
        look(); // a renewal that was held back may be due
    }
}

void SessionReceiverCore::on_settled(ports::Delivery& delivery, const Failure* failure) {
    settling_.answer(static_cast<HeldDelivery&>(delivery), failure);
}

// State and lock

void SessionReceiverCore::get_state(const PendingPtr<std::optional<std::string>>& pending) {
    ask_state(pending, link_.state().get(pending->deadline(), AnswerTo<std::optional<std::string>>{
                                                                  pending, Errc::lock_lost}));
}

void SessionReceiverCore::set_state(const PendingPtr<core::Done>& pending,
                                    std::optional<std::string> state) {
    ask_state(pending, link_.state().set(std::move(state), pending->deadline(),
                                         AnswerTo<core::Done>{pending, Errc::lock_lost}));
}

void SessionReceiverCore::renew_lock(const PendingPtr<Deadline>& pending,
                                     std::shared_ptr<ports::OwnLock> lock) {
    if (lock != nullptr) {
        ask(*pending, [&] {
            return link_.renew(lock, pending->deadline(),
                               AnswerTo<Deadline>{pending, Errc::lock_lost});
        });
        return;
    }
    ports::SessionLink::LockHandler take =
        [this, answer_to = AnswerTo<Deadline>{pending, Errc::lock_lost},
         asked = home_.loop.now()](const core::Result<ports::LockGrant>& answer) {
            if (!answer) {
                answer_to(answer.failure());
                return;
            }
            lock_.granted(asked, answer.value());
            look();
            answer_to(lock_.expires());
        };
    ask(*pending, [&] { return link_->renew_lock(pending->deadline(), std::move(take)); });
}

void SessionReceiverCore::on_lock_uncertain() {
    lock_.became_uncertain(home_.loop.now());
    link_.became_uncertain();
    arm();
}

void SessionReceiverCore::look() {
    const TimePoint now = home_.loop.now();
    status_->set_lock_expires(lock_.expires());
    const bool is_slow = progress_.is_slow(now);
    perform(lock_.look(now, settings_.renews && is_open() && !is_slow),
            Failure{.code = Errc::lock_lost,
                    .detail = "the lock of " + status_->title() + " expired" +
                              (is_slow && settings_.renews
                                   ? ": no message was settled within max_lock_renewal"
                                   : "")});
    perform(machine_.look(now), Failure{.code = Errc::cancelled});
    arm();
}

void SessionReceiverCore::arm() {
    const bool ended = machine_.phase() == ReceiverMachine::Phase::ended;
    home_.loop.timers().set_due(timer_,
                                ended ? TimePoint::max() : std::min(machine_.next(), lock_.next()));
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
    if (book_.last_flow().drain) {
        link_->drain();
    }
    perform(machine_.close(home_.loop.now(), book_.is_draining()), status_->closed());
    arm();
}

void SessionReceiverCore::on_lost(const Failure& reason) { perform(machine_.lost(), reason); }

void SessionReceiverCore::perform(const ReceiverActions& actions, const Failure& why) {
    if (actions.refuse) {
        status_->set_loss(why);
        status_->fire_stop(home_.notifier);
        for (const ReceiveBook::Answer& waiting : book_.take_waiting()) {
            waiting.pending->complete(why);
        }
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

// The owner of all receivers of a thread

std::shared_ptr<SessionStatus> ReceiverSet::add(std::unique_ptr<SessionReceiverCore> receiver) {
    SessionReceiverCore& added = *receiver;
    open_.emplace(&added, std::move(receiver));
    added.look(); // may retire it
    return added.status();
}

void ReceiverSet::retire(SessionReceiverCore& receiver) {
    auto owned = open_.extract(&receiver);
    if (retired_.empty()) {
        receiver.status()->loop().post([this] { retired_.clear(); });
    }
    retired_.push_back(std::move(owned.mapped()));
}

void ReceiverSet::end_all() {
    while (!open_.empty()) {
        open_.begin()->second->on_lost(
            Failure{.code = Errc::cancelled, .detail = "the client is closed"});
    }
    retired_.clear();
}

} // namespace sessionq::detail::client
