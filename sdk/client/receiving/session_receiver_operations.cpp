// SPDX-License-Identifier: MIT
#include "client/receiving/session_receiver_operations.hpp"

#include <functional>
#include <type_traits>
#include <utility>

#include <sessionq/error.hpp>

#include "client/check.hpp"
#include "core/access.hpp"

namespace sessionq::detail::client {
namespace {

constexpr std::size_t max_messages_per_receive = 10'000;

void check_terms(const ports::Capabilities& broker, const AcceptTerms& terms) {
    if (terms.session_id) {
        check_session_id(*terms.session_id);
    }
    check_wait(terms.wait.value_or(Duration::zero()));
    const ReceiverSettings& receiver = terms.receiver;
    if (receiver.scope == ports::Scope::entity) {
        require_not_negative("ReceiverOptions::max_lock_renewal", receiver.max_lock_renewal);
        require_option(receiver.prefetch <= max_messages_per_receive,
                       "ReceiverOptions::prefetch must be 0 to 10,000");
        broker.require(ports::Capability::plain_entities);
    } else {
        check_entity(terms.entity);
        require_not_negative("SessionReceiverOptions::max_lock_renewal", receiver.max_lock_renewal);
        broker.require(terms.session_id ? ports::Capability::accept_named
                                        : ports::Capability::accept_next);
    }
    if (receiver.removes()) {
        broker.require(ports::Capability::receive_and_delete);
    }
}

/// Whether an accept waits for a session. Only an accept of any session waits. For a named session,
/// or an entity without sessions, there is nothing to wait for.
bool is_waiting(const AcceptTerms& terms) noexcept {
    return !terms.session_id && terms.receiver.scope == ports::Scope::session;
}

/// Returns the failure of an accept. A timeout has two meanings. If the accept was to wait for any
/// session until its deadline, there was no session (R5). Otherwise the broker has not answered.
Failure accept_failure(Failure why, bool waits_to_the_end) {
    if (why.code != Errc::timeout) {
        return why;
    }
    if (waits_to_the_end) {
        return {.code = Errc::no_session_available};
    }
    why.detail = why.detail.empty() ? "the broker has not answered the accept" : why.detail;
    return why;
}

/// Sends the accept. A session that arrives late is given back (R19).
void start_accept(EndpointThread& thread, core::Executor& notifier, const AcceptTerms& terms,
                  const PendingPtr<HeldSessionPtr>& pending) {
    const TimePoint asked = thread.thread->now();
    const Duration left = pending->deadline().remaining(asked);
    const Duration wait = terms.wait.value_or(is_waiting(terms) ? left : Duration::zero());
    const bool waits_to_the_end = is_waiting(terms) && wait >= left;
    ports::AcceptRequest request{
        .entity = terms.entity,
        .scope = terms.receiver.scope,
        .session_id = terms.session_id,
        .mode = terms.receiver.mode,
        .wait = wait,
        .priority = terms.receiver.priority,
        .deadline = pending->deadline(),
    };
    const ports::RequestId id = thread.endpoint->accept(
        std::move(request),
        [&thread, &notifier, entity = terms.entity, receiver = terms.receiver, asked,
         waits_to_the_end, pending](core::Result<ports::SessionLinkPtr> answer) {
            thread.meters->accepted(thread.thread->now() - asked,
                                    answer ? nullptr : &answer.failure());
            if (pending->ended()) {
                return; // destroying the link gives the session back
            }
            if (!answer) {
                pending->complete(accept_failure(answer.failure(), waits_to_the_end));
                return;
            }
            pending->complete(std::make_shared<HeldSession>(
                thread.receivers.add(std::make_unique<SessionReceiverCore>(
                    SessionReceiverCore::Home{*thread.thread, thread.receivers, notifier}, entity,
                    receiver, std::move(answer).value(), asked))));
        });
    pending->on_give_up(
        [&thread, id, waits_to_the_end](Failure failure) -> core::Result<HeldSessionPtr> {
            thread.endpoint->give_up(id);
            return accept_failure(std::move(failure), waits_to_the_end);
        });
}

} // namespace

Operation<HeldSessionPtr> accept_operation(const std::shared_ptr<ClientCore>& client,
                                           AcceptTerms terms, const CallOptions& call) {
    check_terms(client->capabilities(), terms);
    EndpointThread& thread = client->next_thread();
    const bool waits = is_waiting(terms);
    const std::optional<Duration> wait = terms.wait;
    auto operation = make_operation<HeldSessionPtr>(
        client, *thread.thread, call,
        [&thread, &notifier = client->notifier(),
         terms = std::move(terms)](const PendingPtr<HeldSessionPtr>& pending) {
            start_accept(thread, notifier, terms, pending);
        });
    const Duration left = operation.deadline.remaining(client->clock().now());
    const bool waits_to_the_end = waits && wait.value_or(left) >= left;
    operation.unstarted = [waits_to_the_end](Failure why) -> core::Result<HeldSessionPtr> {
        return accept_failure(std::move(why), waits_to_the_end);
    };
    return operation;
}

Operation<Deliveries> receive_operation(const HeldSession& session, std::size_t max_messages,
                                        Duration wait, const CallOptions& call) {
    require_argument(max_messages >= 1 && max_messages <= max_messages_per_receive,
                     "max_messages must be 1 to 10,000");
    check_wait(wait);
    const bool present_only = wait == Duration::zero();
    auto operation =
        on_session(session, call, &SessionReceiverCore::receive, max_messages, present_only);
    operation.unstarted = answer_in_vain;
    if (!present_only) {
        operation.deadline =
            operation.deadline.sooner(Deadline::after(wait, session.client()->clock().now()));
    }
    return operation;
}

/// Wraps deliveries for the application.
std::vector<LockedMessage> to_messages(const std::shared_ptr<MessageHolder>& holder,
                                       core::Result<Deliveries> answer) {
    Deliveries deliveries = std::move(answer).take_or_throw();
    std::vector<LockedMessage> messages;
    messages.reserve(deliveries.size());
    for (ports::DeliveryPtr& delivery : deliveries) {
        messages.push_back(Access::make<LockedMessage>(
            holder, std::shared_ptr<HeldDelivery>{static_cast<HeldDelivery*>(delivery.release())}));
    }
    return messages;
}

std::vector<LockedMessage> to_received(const HeldSessionPtr& session, const ReceiveSpan& span,
                                       core::Result<Deliveries> answer) {
    std::vector<LockedMessage> messages = to_messages(session, std::move(answer));
    if (!messages.empty()) {
        span.came(session->place(), messages);
    }
    return messages;
}

Operation<core::Done> close_operation(const HeldSession& session, const CallOptions& call) {
    return make_operation<core::Done>(
        session.client(), session.status()->loop(), call,
        [status = session.status()](const PendingPtr<core::Done>& pending) {
            if (SessionReceiverCore* there = status->receiver()) {
                there->close(pending);
            } else {
                pending->complete(core::Done{});
            }
        });
}

// `HeldSession` as a `MessageHolder`

void HeldSession::require(ports::Capability capability) const {
    client_->capabilities().require(capability);
}

void HeldSession::require_held() const {
    if (const auto loss = status_->loss()) {
        throw Error{Errc::lock_lost, loss->detail};
    }
}

std::optional<Operation<core::Done>> HeldSession::settle(DeliveryPtr delivery,
                                                         ports::Settlement settlement,
                                                         const CallOptions& call) {
    auto span = begin_settle(client_->tracing(), place(), delivery->message,
                             to_string(settlement.outcome), trace_of(call.context));
    auto operation = on_session(*this, call, &SessionReceiverCore::settle, std::move(delivery),
                                std::move(settlement));
    operation.span = std::move(span);
    return operation;
}

Operation<Deadline> HeldSession::renew_lock(const HeldDelivery& delivery, const CallOptions& call) {
    return on_session(*this, call, &SessionReceiverCore::renew_lock, delivery.own_lock);
}

namespace {

[[noreturn]] void refuse_second(std::int64_t sequence_number) {
    throw Error{Errc::already_settled, "message " + std::to_string(sequence_number) +
                                           "; settle it once, settled() tells whether it is"};
}

/// The decision of a message by a settling call. If the call ends before its settlement is sent,
/// the message is undecided again, so that a second call can settle it. That call may have been
/// given up before it began, or was never started.
class SettlingDecision {
public:
    /// Throws `already_settled` if the message is decided.
    explicit SettlingDecision(std::shared_ptr<HeldDelivery> delivery)
        : delivery_{std::move(delivery)} {
        if (delivery_->decided.exchange(true)) {
            const std::int64_t number = delivery_->message.sequence_number();
            delivery_ = nullptr;
            refuse_second(number);
        }
    }
    ~SettlingDecision() { take_back(); }
    SettlingDecision(const SettlingDecision&) = delete;
    SettlingDecision& operator=(const SettlingDecision&) = delete;

    /// The settlement is sent now. The decision stands.
    void confirm() noexcept { delivery_ = nullptr; }

    void take_back() noexcept {
        if (delivery_ != nullptr) {
            delivery_->decided.store(false, std::memory_order_release);
            delivery_ = nullptr;
        }
    }

private:
    std::shared_ptr<HeldDelivery> delivery_; ///< null: the decision stands, or was taken back
};

/// Ties the decision to the operation that sends the settlement.
void bind_decision(Operation<core::Done>& operation,
                   const std::shared_ptr<SettlingDecision>& decision) {
    const auto given_up = std::move(operation.unstarted);
    operation.unstarted = [decision, given_up](Failure why) -> core::Result<core::Done> {
        decision->take_back(); // before the caller learns of it
        return given_up ? given_up(std::move(why)) : core::Result<core::Done>{std::move(why)};
    };
    operation.start = [decision, given_up,
                       start = std::move(operation.start)](const PendingPtr<core::Done>& pending) {
        decision->confirm();
        pending->on_give_up(given_up);
        start(pending);
    };
}

/// Throws `already_settled` or `lock_lost` if the message cannot be settled any more.
void require_held(const LockedMessage& message) {
    if (message.settled()) {
        refuse_second(message.sequence_number());
    }
    Access::session(message)->require_held();
    if (Access::delivery(message)->is_lost()) {
        throw Error{Errc::lock_lost,
                    "the lock of message " + std::to_string(message.sequence_number()) + " ended"};
    }
}

} // namespace

Operation<Deadline> renew_lock(const LockedMessage& message, const CallOptions& call) {
    MessageHolder& holder = *Access::session(message);
    const HeldDelivery& delivery = *Access::delivery(message);
    holder.require(delivery.own_lock != nullptr ? ports::Capability::message_lock_renewal
                                                : ports::Capability::lock_renewal);
    require_held(message);
    return holder.renew_lock(delivery, call);
}

PublicCall<core::Done> settle(const LockedMessage& message, ports::Outcome outcome,
                              const CallOptions& call, Properties properties_to_modify,
                              DeadLetterInfo dead_letter) {
    MessageHolder& holder = *Access::session(message);
    if (const auto needed = ports::capability_for(outcome)) {
        holder.require(*needed);
    }
    ports::check_properties_to_modify(properties_to_modify);
    require_held(message);
    const auto& delivery = Access::delivery(message);
    const auto decision = std::make_shared<SettlingDecision>(delivery);
    auto operation = holder.settle(
        delivery,
        {.outcome = outcome,
         .dead_letter = ports::to_dead_letter(dead_letter.reason, dead_letter.description),
         .properties_to_modify = std::move(properties_to_modify)},
        call);
    if (operation) {
        bind_decision(*operation, decision);
    } else {
        decision->confirm(); // it is settled already
    }
    return {.operation = std::move(operation)};
}

PublicCall<CompleteFailures> complete_all(const std::vector<const LockedMessage*>& messages,
                                          const CallOptions& call) {
    struct One final : Pending<core::Done> {
        One(core::EventLoop& loop, Deadline deadline, std::shared_ptr<CompleteFailures> all,
            std::size_t at)
            : Pending{loop, deadline}, all_{std::move(all)}, at_{at} {}

        void deliver(core::Result<core::Done> answer) override {
            if (!answer) {
                (*all_)[at_] = answer.failure();
            }
            all_.reset(); // the last reference completes the whole operation
        }

    private:
        std::shared_ptr<CompleteFailures> all_;
        std::size_t at_;
    };

    CompleteFailures failures(messages.size());
    std::vector<std::pair<std::size_t, Operation<core::Done>>> operations;
    for (std::size_t at = 0; at < messages.size(); ++at) {
        try {
            if (auto one = settle(*messages[at], ports::Outcome::complete, call).operation) {
                operations.emplace_back(at, std::move(*one));
            }
        } catch (const Error& error) {
            failures[at] = error.failure();
        }
    }
    if (operations.empty()) {
        return {.operation = std::nullopt,
                .finish = [failures](core::Result<CompleteFailures>) { return failures; }};
    }
    const auto& first = operations.front().second;
    return {Operation<CompleteFailures>{
        .client = first.client,
        .loop = first.loop,
        .deadline = {}, // each settlement has its own
        .context = {},
        .start = [operations = std::move(operations), failures = std::move(failures)](
                     const PendingPtr<CompleteFailures>& pending) mutable {
            const std::shared_ptr<CompleteFailures> all{
                new CompleteFailures{std::move(failures)}, [pending](CompleteFailures* made) {
                    const std::unique_ptr<CompleteFailures> owned{made};
                    pending->complete(std::move(*owned));
                }};
            for (auto& [at, operation] : operations) {
                auto one = std::make_shared<One>(operation.loop, operation.deadline, all, at);
                one->watch(std::move(operation.context));
                one->trace(std::move(operation.span));
                one->on_give_up(std::move(operation.unstarted));
                launch<core::Done>(std::move(one), std::move(operation.start));
            }
        }}};
}

} // namespace sessionq::detail::client
