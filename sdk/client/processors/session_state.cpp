// SPDX-License-Identifier: MIT
#include "client/processors/session_state.hpp"

#include <utility>

#include "client/calls/blocking.hpp"
#include "client/processors/handler_session.hpp"
#include "client/testing/test_session.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"

namespace sessionq::detail::client {
namespace {

/// Returns an operation on the state of the session. `ask` makes the request on the loop, and
/// returns its id.
template <typename T, typename Ask>
Operation<T> state_operation(const SessionContext& session, const CallOptions& call, Ask ask) {
    detail::processor::SessionDriver& driver = *Access::session(session)->driver();
    driver.view().workplace().endpoint.capabilities().require(ports::Capability::session_state);
    return HandlerSession{driver}.operation<T>(
        call, [ask = std::move(ask)](detail::processor::SessionDriver& there,
                                     const PendingPtr<T>& pending) mutable {
            const ports::RequestId id = ask(there.held_link()->state(), pending->deadline(),
                                            AnswerTo<T>{pending, Errc::lock_lost});
            return HandlerSession::GiveUp{[id](detail::processor::SessionDriver& still) {
                still.held_link()->state().give_up(id);
            }};
        });
}

} // namespace

Operation<std::optional<std::string>> get_state(const SessionContext& session,
                                                const CallOptions& call) {
    using State = std::optional<std::string>;
    return state_operation<State>(
        session, call,
        [](ports::EnvelopedState& kept, Deadline deadline, AnswerTo<State> answer_to) {
            return kept.get(deadline, std::move(answer_to));
        });
}

Operation<core::Done> set_state(const SessionContext& session, std::optional<std::string> state,
                                const CallOptions& call) {
    return state_operation<core::Done>(
        session, call,
        [state = std::move(state)](ports::EnvelopedState& kept, Deadline deadline,
                                   AnswerTo<core::Done> answer_to) mutable {
            return kept.set(std::move(state), deadline, std::move(answer_to));
        });
}

PublicCall<std::optional<std::string>> read_state(const SessionContext& session,
                                                  const CallOptions& call) {
    using State = std::optional<std::string>;
    if (TestSession* const test = TestSession::of(session)) {
        return {.operation = std::nullopt,
                .finish = [state = test->broker().read_state()](const core::Result<State>&) {
                    return state;
                }};
    }
    return {get_state(session, call)};
}

PublicCall<core::Done> write_state(const SessionContext& session, std::optional<std::string> state,
                                   const CallOptions& call) {
    if (TestSession* const test = TestSession::of(session)) {
        test->broker().write_state(std::move(state));
        return {};
    }
    return {set_state(session, std::move(state), call)};
}

} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

std::optional<std::string> SessionContext::state(const CallOptions& call) {
    return detail::client::block(detail::client::read_state(*this, call));
}

void SessionContext::set_state(std::optional<std::string> state, const CallOptions& call) {
    detail::client::block(detail::client::write_state(*this, std::move(state), call));
}

Result<std::optional<std::string>> SessionContext::try_state(const CallOptions& call) noexcept {
    return core::as_result([&] { return state(call); });
}

Result<void> SessionContext::try_set_state(std::optional<std::string> state,
                                           const CallOptions& call) noexcept {
    return core::as_result([&] { set_state(std::move(state), call); });
}

} // namespace sessionq::inline v1
