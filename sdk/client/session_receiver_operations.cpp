#include "client/session_receiver_operations.hpp"

#include <algorithm>
#include <utility>

#include <sessionq/error.hpp>

#include "client/check.hpp"

namespace sessionq::client {
namespace {

constexpr std::size_t max_messages_per_receive = 10'000;

void check_terms(const ports::Capabilities& broker, const AcceptTerms& terms) {
    check_entity(terms.entity);
    if (terms.session_id) {
        check_session_id(*terms.session_id);
    }
    require_argument(!terms.wait || *terms.wait >= Duration::zero(), "wait is negative");
    require_option(terms.options.max_lock_renewal >= Duration::zero(),
                   "SessionReceiverOptions::max_lock_renewal is negative");
    broker.require(terms.session_id ? ports::Capability::accept_named
                                    : ports::Capability::accept_next);
    if (terms.options.receive_and_delete) {
        broker.require(ports::Capability::receive_and_delete);
    }
}

/// What a wait that is over answers: that there was no session (R5), else the failure.
core::Result<ReceiverPtr> without_session(Failure failure, bool named) {
    if (!named && failure.code == Errc::timeout) {
        failure = {.code = Errc::no_session_available};
    }
    return failure;
}

/// Asks for the session, and sees to it that one that comes too late is given back (R19).
void start_accept(Station& station, core::Executor& notifier, const AcceptTerms& terms,
                  const PendingPtr<ReceiverPtr>& pending) {
    const TimePoint asked = station.thread->now();
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
    const ports::RequestId id = station.endpoint->accept(
        std::move(request), [&station, &notifier, entity = terms.entity, options = terms.options,
                             asked, pending](core::Result<ports::SessionLinkPtr> answer) {
            if (!answer) {
                pending->complete(answer.failure());
            } else if (!pending
                            ->ended()) { // else the link goes with the answer, and the session back
                pending->complete(
                    SessionReceiverCore::make({*station.thread, station.residents, notifier},
                                              entity, options, std::move(answer).value(), asked));
            }
        });
    pending->on_give_up([&station, id, named](Failure failure) {
        station.endpoint->give_up(id);
        return without_session(std::move(failure), named);
    });
}

/// An operation on a held session. It keeps the session, not the client: that is for whoever waits.
template <typename T, typename Body>
Operation<T> on_session(const GripPtr& grip, const OperationContext& context, Body body) {
    return make_operation<T>(grip->client, grip->session->loop(), context,
                             [session = grip->session, body = std::move(body)](
                                 const PendingPtr<T>& pending) mutable { body(session, pending); });
}

} // namespace

Operation<ReceiverPtr> accept_operation(const std::shared_ptr<ClientCore>& client,
                                        AcceptTerms terms, const OperationContext& context) {
    check_terms(client->capabilities(), terms);
    Station& station = client->next_station();
    return make_operation<ReceiverPtr>(
        client, *station.thread, context,
        [&station, &notifier = client->notifier(),
         terms = std::move(terms)](const PendingPtr<ReceiverPtr>& pending) {
            start_accept(station, notifier, terms, pending);
        });
}

Operation<Deliveries> receive_operation(const GripPtr& grip, std::size_t max_messages,
                                        Duration wait, const OperationContext& context) {
    require_argument(max_messages >= 1 && max_messages <= max_messages_per_receive,
                     "max_messages must be 1 to 10,000");
    require_argument(wait >= Duration::zero(), "wait is negative");
    const bool present_only = wait == Duration::zero();
    auto operation = on_session<Deliveries>(
        grip, context,
        [max_messages, present_only](const ReceiverPtr& session,
                                     const PendingPtr<Deliveries>& pending) {
            pending->on_give_up(
                [session, raw = pending.get()](Failure failure) -> core::Result<Deliveries> {
                    session->forget(*raw);
                    if (failure.code == Errc::timeout) { // nothing came, which is an answer
                        return Deliveries{};
                    }
                    return failure;
                });
            session->receive(pending, max_messages, present_only);
        });
    if (!present_only) {
        operation.deadline =
            operation.deadline.sooner(Deadline::after(wait, grip->client->clock().now()));
    }
    return operation;
}

Operation<Deliveries> receive_deferred_operation(const GripPtr& grip,
                                                 std::vector<std::int64_t> sequence_numbers,
                                                 const OperationContext& context) {
    grip->client->capabilities().require(ports::Capability::defer);
    return on_session<Deliveries>(
        grip, context,
        [numbers = std::move(sequence_numbers)](const ReceiverPtr& session,
                                                const PendingPtr<Deliveries>& pending) mutable {
            session->receive_deferred(std::move(numbers), pending);
        });
}

Operation<std::optional<std::string>> get_state_operation(const GripPtr& grip,
                                                          const OperationContext& context) {
    using State = std::optional<std::string>;
    grip->client->capabilities().require(ports::Capability::session_state);
    return on_session<State>(grip, context,
                             [](const ReceiverPtr& session, const PendingPtr<State>& pending) {
                                 session->get_state(pending);
                             });
}

Operation<core::Done> set_state_operation(const GripPtr& grip, std::optional<std::string> state,
                                          const OperationContext& context) {
    grip->client->capabilities().require(ports::Capability::session_state);
    return on_session<core::Done>(
        grip, context,
        [state = std::move(state)](const ReceiverPtr& session,
                                   const PendingPtr<core::Done>& pending) mutable {
            session->set_state(std::move(state), pending);
        });
}

Operation<Deadline> renew_lock_operation(const GripPtr& grip, const OperationContext& context) {
    grip->client->capabilities().require(ports::Capability::lock_renewal);
    return on_session<Deadline>(
        grip, context, [](const ReceiverPtr& session, const PendingPtr<Deadline>& pending) {
            session->renew_lock(pending);
        });
}

Operation<core::Done> close_operation(const GripPtr& grip, const OperationContext& context) {
    return on_session<core::Done>(
        grip, context, [](const ReceiverPtr& session, const PendingPtr<core::Done>& pending) {
            session->close(pending);
        });
}

Operation<core::Done> settle_operation(const SessionMessage& message, ports::Settlement settlement,
                                       const OperationContext& context) {
    const ReceiverGrip& grip = *message.grip();
    HeldDelivery& held = *message.held();
    if (settlement.outcome == ports::Outcome::defer) {
        grip.client->capabilities().require(ports::Capability::defer);
    } else if (settlement.outcome == ports::Outcome::dead_letter) {
        grip.client->capabilities().require(ports::Capability::dead_letter);
    }
    if (held.settled_by_sender || held.decided.load(std::memory_order_relaxed)) {
        throw Error{Errc::already_settled, "message " + std::to_string(message.sequence_number())};
    }
    if (const auto loss = grip.session->loss()) {
        throw Error{Errc::lock_lost, loss->detail};
    }
    if (held.decided.exchange(true)) {
        throw Error{Errc::already_settled, "message " + std::to_string(message.sequence_number())};
    }
    return on_session<core::Done>(
        message.grip(), context,
        [delivery = message.held(), settlement = std::move(settlement)](
            const ReceiverPtr& session, const PendingPtr<core::Done>& pending) mutable {
            session->settle(std::move(delivery), std::move(settlement), pending);
        });
}

std::vector<SessionMessage> to_messages(const GripPtr& grip, Deliveries deliveries) {
    std::vector<SessionMessage> messages;
    messages.reserve(deliveries.size());
    for (ports::DeliveryPtr& delivery : deliveries) {
        messages.emplace_back(
            grip, std::shared_ptr<HeldDelivery>{static_cast<HeldDelivery*>(delivery.release())});
    }
    return messages;
}

} // namespace sessionq::client
