// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/basic_handler.hpp>
#include <sessionq/session_context.hpp>

namespace sessionq::inline v1 {

/// Handles a session before its first message, see `SessionProcessor::on_session_open`.
///
/// Example: a handler that another thread finishes.
///
///     processor.on_session_open(
///         SessionOpenHandler::started_by([](SessionContext& session, Completion completion) {
///             std::thread{[&session, completion = std::move(completion)] {
///                 if (session.state()) {
///                     completion.done();
///                 } else {
///                     completion.failed({.code = Errc::invalid_state, .detail = "no state yet"});
///                 }
///             }}.detach();
///         }));
using SessionOpenHandler = BasicHandler<SessionContext&>;

/// Handles a session after its last message, see `SessionProcessor::on_session_close`.
using SessionCloseHandler = BasicHandler<SessionContext&, CloseReason>;

} // namespace sessionq::inline v1
