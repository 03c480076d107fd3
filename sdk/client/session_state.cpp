// SPDX-License-Identifier: MIT
#include "client/session_state.hpp"

#include <utility>

#include "client/blocking.hpp"
#include "core/access.hpp"
#include "processor/session_driver.hpp"

namespace sessionq {
namespace client {
namespace {

/// Null: the session is no longer held.
ports::SessionLink* link_of(const std::shared_ptr<processor::SessionDriver>& driver) {
    return driver ? driver->usable_link() : nullptr;
}

/// An operation on the session of a running handler. `ask` makes the request of its state.
template <typename T, typename Ask>
Operation<T> operation(const SessionContext& session, const OperationContext& context, Ask ask) {
    processor::Workplace& workplace = Access::driver(session).view().workplace();
    workplace.endpoint.capabilities().require(ports::Capability::session_state);
    const processor::Environment& environment = workplace.shared->environment;
    OperationContext combined = context.within(OperationContext::current());
    const Deadline deadline =
        combined.effective(environment.operation_timeout, environment.clock->now());
    const Failure lost{.code = Errc::lock_lost,
                       .detail = "session '" + session.session_id() + "' is not held any more"};
    const std::weak_ptr<processor::SessionDriver> weak = Access::driver(session).weak_from_this();
    return {.client = nullptr, // the running handler keeps its processor, and so the client
            .loop = workplace.loop(),
            .deadline = deadline,
            .context = std::move(combined),
            .start =
                [weak, lost, ask = std::move(ask)](const PendingPtr<T>& pending) mutable {
                    const auto driver = weak.lock();
                    if (link_of(driver) == nullptr) {
                        pending->complete(lost);
                        return;
                    }
                    const ports::RequestId id = ask(driver->state(), pending->deadline(),
                                                    AnswerTo<T>{pending, Errc::lock_lost});
                    pending->ask_port([weak, id] {
                        if (const auto there = weak.lock()) {
                            there->state().give_up(id);
                        }
                    });
                },
            // The loss has fired the stop token, too, and the deadline may have passed since.
            .unstarted = [weak, lost](Failure why) -> core::Result<T> {
                return link_of(weak.lock()) == nullptr ? lost : std::move(why);
            }};
}

} // namespace

Operation<std::optional<std::string>> get_state(const SessionContext& session,
                                                const OperationContext& context) {
    using State = std::optional<std::string>;
    return operation<State>(
        session, context,
        [](ports::EnvelopedState& kept, Deadline deadline, AnswerTo<State> answer_to) {
            return kept.get(deadline, std::move(answer_to));
        });
}

Operation<core::Done> set_state(const SessionContext& session, std::optional<std::string> state,
                                const OperationContext& context) {
    return operation<core::Done>(
        session, context,
        [state = std::move(state)](ports::EnvelopedState& kept, Deadline deadline,
                                   AnswerTo<core::Done> answer_to) mutable {
            return kept.set(std::move(state), deadline, std::move(answer_to));
        });
}

} // namespace client

std::optional<std::string> SessionContext::state(const OperationContext& context) {
    return client::block(client::get_state(*this, context));
}

void SessionContext::set_state(std::optional<std::string> state, const OperationContext& context) {
    client::block(client::set_state(*this, std::move(state), context));
}

} // namespace sessionq
