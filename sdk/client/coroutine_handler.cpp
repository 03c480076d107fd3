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

template <typename Work>
using Handler = std::function<asio::awaitable<void>(Work)>;
/// Calls a handler. What it refers to is kept until the handler has finished.
using Begin = std::function<asio::awaitable<void>()>;
using Strand = asio::strand<dispatch::PoolExecutor>;
/// A signal belongs to the strand of its coroutine. The completion handler owns it.
using SignalPtr = std::shared_ptr<asio::cancellation_signal>;

/// Runs the handler, and cancels what it waits for when `stop` fires.
asio::awaitable<void> run(Begin begin, std::stop_token stop, Strand strand,
                          std::weak_ptr<asio::cancellation_signal> signal) {
    // It goes with the coroutine. By then the callback has posted, or never will.
    const std::stop_callback cancel{std::move(stop), [strand, signal] {
                                        asio::post(strand, [signal] {
                                            if (const SignalPtr there = signal.lock()) {
                                                there->emit(asio::cancellation_type::all);
                                            }
                                        });
                                    }};
    co_await begin();
}

/// Starts the handler of `call`, which is the first of its batch, in that context.
void spawn(Begin begin, std::shared_ptr<const void> handler, const processor::HandledMessage& call,
           OperationContext context, MessageHandler::Done done) {
    const Strand strand{call.session().coroutines().executor(
        std::move(context), core::MessageSpans::handler_span(call.spans))};
    const auto signal = std::make_shared<asio::cancellation_signal>();
    const auto slot = signal->slot();
    asio::co_spawn(strand, run(std::move(begin), call.stop_token(), strand, signal),
                   asio::bind_cancellation_slot(
                       slot, [done = std::move(done), handler = std::move(handler),
                              signal](std::exception_ptr error) { done(std::move(error)); }));
}

} // namespace

MessageHandler coroutine(std::function<asio::awaitable<void>(MessageContext&)> handler) {
    const auto shared = std::make_shared<const Handler<MessageContext&>>(std::move(handler));
    return MessageHandler::started_by([shared](MessageContext& message, MessageHandler::Done done) {
        const processor::HandledMessage& call = client::Access::call(message);
        spawn([handler = shared.get(), &message] { return (*handler)(message); }, shared, call,
              core::under_trace_of(message.message(), call.operation_context()), std::move(done));
    });
}

BatchHandler coroutine(std::function<asio::awaitable<void>(std::span<MessageContext>)> handler) {
    using Batch = std::span<MessageContext>;
    const auto shared = std::make_shared<const Handler<Batch>>(std::move(handler));
    return BatchHandler::started_by([shared](Batch batch, BatchHandler::Done done) {
        spawn([handler = shared.get(), batch] { return (*handler)(batch); }, shared,
              client::Access::call(batch.front()), OperationContext::current(), std::move(done));
    });
}

} // namespace sessionq
