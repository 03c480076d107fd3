// SPDX-License-Identifier: MIT
#include <sessionq/redrive.hpp>

#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <sessionq/async.hpp>

#include "client/client_core.hpp"
#include "client/redrive_run.hpp"
#include "core/access.hpp"
#include "core/session_id.hpp"

namespace sessionq {
namespace {

using RunPtr = std::unique_ptr<client::RedriveRun>;

RunPtr make_run(const Client& client, const std::string& entity, RedriveOptions options,
                const OperationContext& context) {
    auto route =
        client::redrive_route(client::Access::core(client)->capabilities(), entity, options);
    return std::make_unique<client::RedriveRun>(client, std::move(route), std::move(options),
                                                context.within(OperationContext::current()));
}

asio::awaitable<RedriveReport> perform(RunPtr run) {
    auto running = run->run();
    co_return co_await std::move(running);
}

} // namespace

bool DeadLetterFilter::matches(const ReceivedMessage& message, WallTime now) const {
    const auto& why = message.facts().dead_letter;
    const auto session = message.shared_content()->session_id();
    return (!session_id || (session && core::is_same_session(*session, *session_id))) &&
           (!reason || (why && why->reason == *reason)) &&
           (!older_than || now - message.enqueued_time() > *older_than);
}

RedriveReport redrive(const Client& client, const std::string& entity, RedriveOptions options,
                      const OperationContext& context) {
    if (client::ReceiveThread::on_any()) {
        throw Error{Errc::invalid_state,
                    "a blocking call on a receive thread, where nothing may wait"};
    }
    RunPtr run = make_run(client, entity, std::move(options), context);
    asio::io_context io{1};
    RedriveReport report;
    std::exception_ptr failed;
    asio::co_spawn(io, perform(std::move(run)), [&](std::exception_ptr error, RedriveReport made) {
        failed = std::move(error);
        report = made;
    });
    io.run();
    if (failed) {
        std::rethrow_exception(failed);
    }
    return report;
}

asio::awaitable<RedriveReport> async_redrive(const Client& client, const std::string& entity,
                                             RedriveOptions options,
                                             const OperationContext& context) {
    return perform(make_run(client, entity, std::move(options), context));
}

} // namespace sessionq
