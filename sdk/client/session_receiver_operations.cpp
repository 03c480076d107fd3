#include "client/session_receiver_operations.hpp"

#include <algorithm>
#include <utility>

#include <sessionq/error.hpp>

#include "client/access.hpp"
#include "client/check.hpp"

namespace sessionq::client {
namespace {

constexpr std::size_t max_messages_per_receive = 10'000;

void check_terms(const ports::Capabilities& broker, const AcceptTerms& terms) {
    check_entity(terms.entity);
    if (terms.session_id) {
        check_session_id(*terms.session_id);
    }
    require_argument(!terms.wait || *terms.wait >= Duration::zero(), "wait must be zero or more");
    require_option(terms.options.max_lock_renewal >= Duration::zero(),
                   "SessionReceiverOptions::max_lock_renewal must be zero or more");
    broker.require(terms.session_id ? ports::Capability::accept_named
                                    : ports::Capability::accept_next);
    if (terms.options.receive_and_delete) {
        broker.require(ports::Capability::receive_and_delete);
    }
}

/// An accept of any session that ends at its deadline found no session (R5).
Failure accept_failure(Failure why, bool named) {
    return !named && why.code == Errc::timeout ? Failure{.code = Errc::no_session_available}
                                               : std::move(why);
}

/// Sends the accept. A session that arrives late is given back (R19).
void start_accept(EndpointThread& thread, core::Executor& notifier, const AcceptTerms& terms,
                  const PendingPtr<AcceptedSession>& pending) {
    const TimePoint asked = thread.thread->now();
    const bool named = terms.session_id.has_value();
    const Duration wait =
        terms.wait.value_or(named ? Duration::zero() : pending->deadline().remaining(asked));
    ports::AcceptRequest request{
        .entity = terms.entity,
        .session_id = terms.session_id,
        .mode = terms.options.receive_and_delete ? ports::ReceiveMode::receive_and_delete
                                                 : ports::ReceiveMode::peek_lock,
        .wait = wait,
        .priority = terms.options.priority,
        .deadline = pending->deadline(),
    };
    const ports::RequestId id = thread.endpoint->accept(
        std::move(request), [&thread, &notifier, entity = terms.entity, options = terms.options,
                             asked, named, pending](core::Result<ports::SessionLinkPtr> answer) {
            if (pending->ended()) {
                return; // destroying the link gives the session back
            }
            if (!answer) {
                pending->complete(accept_failure(answer.failure(), named));
                return;
            }
            pending->complete(
                AcceptedSession{thread.receivers.add(std::make_unique<SessionReceiverCore>(
                    SessionReceiverCore::Home{*thread.thread, thread.receivers, notifier}, entity,
                    options, std::move(answer).value(), asked))});
        });
    pending->on_give_up([&thread, id, named](Failure failure) -> core::Result<AcceptedSession> {
        thread.endpoint->give_up(id);
        return accept_failure(std::move(failure), named);
    });
}

/// An operation on an open session. It refers to the session only; the waiting caller holds the
/// client.
template <typename T, typename Body>
Operation<T> on_session(const HeldSessionPtr& session, const OperationContext& context, Body body) {
    return make_operation<T>(
        session->client(), session->status()->loop(), context,
        [status = session->status(), body = std::move(body)](const PendingPtr<T>& pending) mutable {
            SessionReceiverCore* receiver = status->receiver();
            if (receiver != nullptr && receiver->is_open()) {
                body(*receiver, pending);
            } else {
                pending->complete(status->loss().value_or(Failure{.code = Errc::lock_lost}));
            }
        });
}

} // namespace

Operation<AcceptedSession> accept_operation(const std::shared_ptr<ClientCore>& client,
                                            AcceptTerms terms, const OperationContext& context) {
    check_terms(client->capabilities(), terms);
    EndpointThread& thread = client->next_thread();
    return make_operation<AcceptedSession>(
        client, *thread.thread, context,
        [&thread, &notifier = client->notifier(),
         terms = std::move(terms)](const PendingPtr<AcceptedSession>& pending) {
            start_accept(thread, notifier, terms, pending);
        });
}

Operation<Deliveries> receive_operation(const HeldSessionPtr& session, std::size_t max_messages,
                                        Duration wait, const OperationContext& context) {
    require_argument(max_messages >= 1 && max_messages <= max_messages_per_receive,
                     "max_messages must be 1 to 10,000");
    require_argument(wait >= Duration::zero(), "wait must be zero or more");
    const bool present_only = wait == Duration::zero();
    auto operation = on_session<Deliveries>(
        session, context,
        [max_messages, present_only](SessionReceiverCore& receiver,
                                     const PendingPtr<Deliveries>& pending) {
            pending->on_give_up([status = receiver.status(),
                                 raw = pending.get()](Failure failure) -> core::Result<Deliveries> {
                if (SessionReceiverCore* there = status->receiver()) {
                    there->forget(*raw);
                }
                if (failure.code == Errc::timeout) { // no message came, which is an answer
                    return Deliveries{};
                }
                return failure;
            });
            receiver.receive(pending, max_messages, present_only);
        });
    if (!present_only) {
        operation.deadline =
            operation.deadline.sooner(Deadline::after(wait, session->client()->clock().now()));
    }
    return operation;
}

Operation<Deliveries> receive_deferred_operation(const HeldSessionPtr& session,
                                                 std::vector<std::int64_t> sequence_numbers,
                                                 const OperationContext& context) {
    session->client()->capabilities().require(ports::Capability::defer);
    return on_session<Deliveries>(
        session, context,
        [numbers = std::move(sequence_numbers)](SessionReceiverCore& receiver,
                                                const PendingPtr<Deliveries>& pending) mutable {
            if (numbers.empty()) {
                pending->complete(Deliveries{});
            } else {
                receiver.receive_deferred(std::move(numbers), pending);
            }
        });
}

Operation<std::optional<std::string>> get_state_operation(const HeldSessionPtr& session,
                                                          const OperationContext& context) {
    using State = std::optional<std::string>;
    session->client()->capabilities().require(ports::Capability::session_state);
    return on_session<State>(
        session, context, [](SessionReceiverCore& receiver, const PendingPtr<State>& pending) {
            receiver.ask(pending, [](ports::SessionLink& link, Deadline deadline,
                                     AnswerTo<State> answer_to) {
                return link.get_state(deadline, std::move(answer_to));
            });
        });
}

Operation<core::Done> set_state_operation(const HeldSessionPtr& session,
                                          std::optional<std::string> state,
                                          const OperationContext& context) {
    session->client()->capabilities().require(ports::Capability::session_state);
    return on_session<core::Done>(
        session, context,
        [state = std::move(state)](SessionReceiverCore& receiver,
                                   const PendingPtr<core::Done>& pending) mutable {
            receiver.ask(pending, [&state](ports::SessionLink& link, Deadline deadline,
                                           AnswerTo<core::Done> answer_to) {
                return link.set_state(std::move(state), deadline, std::move(answer_to));
            });
        });
}

Operation<Deadline> renew_lock_operation(const HeldSessionPtr& session,
                                         const OperationContext& context) {
    session->client()->capabilities().require(ports::Capability::lock_renewal);
    return on_session<Deadline>(
        session, context, [](SessionReceiverCore& receiver, const PendingPtr<Deadline>& pending) {
            receiver.renew_lock(pending);
        });
}

Operation<core::Done> close_operation(const HeldSessionPtr& session,
                                      const OperationContext& context) {
    return make_operation<core::Done>(
        session->client(), session->status()->loop(), context,
        [status = session->status()](const PendingPtr<core::Done>& pending) {
            if (SessionReceiverCore* receiver = status->receiver()) {
                receiver->close(pending);
            } else {
                pending->complete(core::Done{});
            }
        });
}

Operation<core::Done> settle_operation(const SessionMessage& message, ports::Settlement settlement,
                                       const OperationContext& context) {
    const HeldSessionPtr& session = Access::session(message);
    HeldDelivery& delivery = *Access::delivery(message);
    if (settlement.outcome == ports::Outcome::defer) {
        session->client()->capabilities().require(ports::Capability::defer);
    } else if (settlement.outcome == ports::Outcome::dead_letter) {
        session->client()->capabilities().require(ports::Capability::dead_letter);
    }
    const auto require_undecided = [&message](bool decided) {
        if (decided) {
            throw Error{Errc::already_settled,
                        "message " + std::to_string(message.sequence_number())};
        }
    };
    require_undecided(message.settled());
    if (const auto loss = session->status()->loss()) {
        throw Error{Errc::lock_lost, loss->detail};
    }
    require_undecided(delivery.decided.exchange(true));
    return on_session<core::Done>(
        session, context,
        [delivery = Access::delivery(message), settlement = std::move(settlement)](
            SessionReceiverCore& receiver, const PendingPtr<core::Done>& pending) mutable {
            receiver.settle(std::move(delivery), std::move(settlement), pending);
        });
}

std::vector<SessionMessage> to_messages(const HeldSessionPtr& session, Deliveries deliveries) {
    std::vector<SessionMessage> messages;
    messages.reserve(deliveries.size());
    for (ports::DeliveryPtr& delivery : deliveries) {
        messages.push_back(Access::make_message(
            session,
            std::shared_ptr<HeldDelivery>{static_cast<HeldDelivery*>(delivery.release())}));
    }
    return messages;
}

} // namespace sessionq::client
