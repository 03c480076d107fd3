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
      book_{options.receive_and_delete},
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

/// Makes a request at the link, and gives it up there when the operation is given up.
template <typename T, typename Request, typename Handler, typename... Args>
void SessionReceiverCore::ask(const PendingPtr<T>& pending, Request request, Handler handler,
                              Args&&... args) {
    const ports::RequestId id =
        ((*link_).*request)(std::forward<Args>(args)..., pending->deadline(), std::move(handler));
    pending->ask_port([status = status_, id] {
        if (SessionReceiverCore* there = status->receiver()) {
            there->link_->give_up(id);
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
    if (book_.delivered(std::move(delivery))) {
        // By a later turn, so that messages that come together are handed out together.
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
    for (ReceiveBook::Answer& answer : book_.serve()) {
        progress_.received(answer.messages.size(), home_.loop.now());
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
    ask(
        pending, &ports::SessionLink::receive_deferred,
        [this, pending, answer_to = AnswerTo<Deliveries>{pending, Errc::lock_lost}](
            core::Result<Deliveries> answer) {
            if (answer && !pending->ended()) {
                progress_.received(answer.value().size(), home_.loop.now());
            }
            answer_to(std::move(answer));
        },
        std::move(sequence_numbers));
}

void SessionReceiverCore::settle(const PendingPtr<core::Done>& pending,
                                 std::shared_ptr<HeldDelivery> delivery,
                                 ports::Settlement settlement) {
    link_->settle(settling_.add(std::move(delivery), pending), std::move(settlement));
    progress_.settled(home_.loop.now());
    if (options_.max_lock_renewal > Duration::zero()) {
        look(); // a renewal that was held back may be due
    }
}

void SessionReceiverCore::on_settled(ports::Delivery& delivery, const Failure* failure) {
    settling_.answer(static_cast<HeldDelivery&>(delivery), failure);
}

// State and lock

void SessionReceiverCore::get_state(const PendingPtr<std::optional<std::string>>& pending) {
    ask(pending, &ports::SessionLink::get_state,
        AnswerTo<std::optional<std::string>>{pending, Errc::lock_lost});
}

void SessionReceiverCore::set_state(const PendingPtr<core::Done>& pending,
                                    std::optional<std::string> state) {
    ask(pending, &ports::SessionLink::set_state, AnswerTo<core::Done>{pending, Errc::lock_lost},
        std::move(state));
}

void SessionReceiverCore::renew_lock(const PendingPtr<Deadline>& pending) {
    ask(pending, &ports::SessionLink::renew_lock,
        [this, answer_to = AnswerTo<Deadline>{pending, Errc::lock_lost},
         asked = home_.loop.now()](core::Result<ports::LockGrant> answer) {
            if (!answer) {
                answer_to(answer.failure());
                return;
            }
            lock_.granted(asked, answer.value());
            look();
            answer_to(lock_.expires());
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
    perform(machine_.close(home_.loop.now(), book_.is_draining()),
            Failure{.code = Errc::cancelled,
                    .detail = "the receiver of session '" + status_->session_id() + "' is closed"});
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

} // namespace sessionq::client
