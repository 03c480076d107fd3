// SPDX-License-Identifier: MIT
#include <memory>
#include <stop_token>
#include <utility>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>

#include <sessionq/async.hpp>

#include "core/access.hpp"
#include "core/trace_context.hpp"
#include "dispatch/pool_executor.hpp"
#include "processor/handled_message.hpp"

namespace sessionq {
namespace {

using Handler = std::function<asio::awaitable<void>(MessageContext&)>;
using Strand = asio::strand<dispatch::PoolExecutor>;
/// A signal belongs to the strand of its coroutine. The completion handler owns it.
using SignalPtr = std::shared_ptr<asio::cancellation_signal>;

/// Runs the handler, and cancels what it waits for when `stop` fires.
asio::awaitable<void> run(const Handler& handler, MessageContext& message, std::stop_token stop,
                          Strand strand, std::weak_ptr<asio::cancellation_signal> signal) {
    // It goes with the coroutine. By then the callback has posted, or never will.
    const std::stop_callback cancel{std::move(stop), [strand, signal] {
                                        asio::post(strand, [signal] {
                                            if (const SignalPtr there = signal.lock()) {
                                                there->emit(asio::cancellation_type::all);
                                            }
                                        });
                                    }};
    co_await handler(message);
}

} // namespace

MessageHandler coroutine(Handler handler) {
    const auto shared = std::make_shared<const Handler>(std::move(handler));
    return MessageHandler::started_by([shared](MessageContext& message, MessageHandler::Done done) {
        processor::HandledMessage& call = client::Access::call(message);
        const Strand strand{call.session().coroutines().executor(
            core::under_trace_of(message.message(), call.operation_context()))};
        const auto signal = std::make_shared<asio::cancellation_signal>();
        const auto slot = signal->slot();
        asio::co_spawn(strand, run(*shared, message, call.stop_token(), strand, signal),
                       asio::bind_cancellation_slot(
                           slot, [done = std::move(done), shared,
                                  signal](std::exception_ptr error) { done(std::move(error)); }));
    });
}

} // namespace sessionq
