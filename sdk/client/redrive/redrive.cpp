// SPDX-License-Identifier: MIT
#include <sessionq/redrive.hpp>

#include <memory>
#include <string_view>
#include <utility>

#include "client/calls/blocking.hpp"
#include "client/connecting/client_core.hpp"
#include "client/redrive/redrive_run.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"
#include "core/session_id.hpp"

namespace sessionq::inline v1 {
namespace {

using RunPtr = std::unique_ptr<detail::client::RedriveRun>;

RunPtr make_run(const Client& client, const std::string& entity, RedriveOptions options,
                const CallOptions& call) {
    auto route = detail::client::redrive_route(detail::client::Access::core(client)->capabilities(),
                                               entity, options);
    detail::client::CallScope scope =
        detail::client::scope_of(call, detail::client::Access::core(client)->clock().now());
    return std::make_unique<detail::client::RedriveRun>(client, std::move(route),
                                                        std::move(options), std::move(scope));
}

} // namespace

bool DeadLetterFilter::matches(const ReceivedMessage& message, WallTime now) const {
    const auto& why = message.facts().dead_letter;
    const auto is_of_session = [&] {
        const auto session =
            message.empty() ? std::nullopt : message.shared_content()->session_id();
        return session && core::is_same_session(*session, *session_id);
    };
    return (!session_id || is_of_session()) && (!reason || (why && why->reason == *reason)) &&
           (!older_than || now - message.enqueued_time() > *older_than);
}

RedriveReport redrive(const Client& client, const std::string& entity, RedriveOptions options,
                      const CallOptions& call) {
    detail::client::require_may_wait();
    const RunPtr run = make_run(client, entity, std::move(options), call);
    while (detail::CallPtr<void> step = run->next()) {
        detail::client::block(std::move(step));
    }
    return run->report();
}

Result<RedriveReport> try_redrive(const Client& client, const std::string& entity,
                                  RedriveOptions options, const CallOptions& call) noexcept {
    return core::as_result([&] { return redrive(client, entity, std::move(options), call); },
                           Errc::handler_failed); // of `on_progress`
}

} // namespace sessionq::inline v1

namespace sessionq::detail {

std::unique_ptr<RedriveSteps> prepare_redrive(const Client& client, const std::string& entity,
                                              RedriveOptions options, const CallOptions& call) {
    return make_run(client, entity, std::move(options), call);
}

} // namespace sessionq::detail
