// SPDX-License-Identifier: MIT
#pragma once

#include <asio/associated_allocator.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/execution/blocking.hpp>
#include <asio/execution/context.hpp>
#include <asio/execution/mapping.hpp>
#include <asio/execution_context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>

#ifndef ASIO_HAS_CO_AWAIT
#error "Asio sees no coroutines: old versions need -DASIO_HAS_CO_AWAIT with Clang"
#endif
#ifdef SESSIONQ_HAS_ASYNC_FUNCTIONS
#error "include <sessionq/async.hpp> and <sessionq/boost_asio.hpp> in different source files"
#endif
#define SESSIONQ_HAS_ASYNC_FUNCTIONS

#define SESSIONQ_ASIO asio
#define SESSIONQ_ASIO_ADAPTER on_asio
#define SESSIONQ_ASIO_CANCELS 1
#include <sessionq/detail/async_functions.hpp> // IWYU pragma: export
#undef SESSIONQ_ASIO
#undef SESSIONQ_ASIO_ADAPTER
#undef SESSIONQ_ASIO_CANCELS

/// Each blocking function has an asynchronous twin here: `async_send` is the twin of
/// `Sender::send`. It has the same arguments, effect and errors. The headers of the classes
/// describe them. <sessionq/detail/async_functions.hpp> declares all of them.
/// <sessionq/boost_asio.hpp> has the same functions for Boost.Asio.
///
/// Example:
///
///     const auto copy = [](Client client) -> asio::awaitable<void> {
///         SessionReceiver receiver = co_await async_accept_next(client, "orders");
///         while (auto message = co_await async_receive_one(receiver, std::chrono::seconds{1})) {
///             co_await async_complete(*message);
///         }
///         co_await async_close(receiver);
///     };
///
/// Completion tokens: the last argument is any token of Asio. The default is `asio::use_awaitable`:
/// the function then returns an awaitable, and `co_await` throws the errors. The signature of the
/// handler is `void(std::exception_ptr)`, or `void(std::exception_ptr, T)` if the twin returns a
/// `T`. The exceptions are those of the twin, mostly `Error`. Beside an error, `T` is as
/// constructed by default, or as one that was moved from.
///
/// Example: a future, and a callback.
///
///     async_send(sender, Message::of("placed").in_session("ada"), {}, asio::use_future).get();
///     async_send(sender, Message::of("paid").in_session("ada"), {}, [](std::exception_ptr error) {
///         std::cout << (error ? "failed" : "sent") << std::endl;
///     });
///
/// Arguments: the function checks them and throws before it returns.
///
/// Context: a call uses `CallOptions::context` and the ambient context of the thread that calls the
/// function. A coroutine cannot have an `OperationContext::Scope`, so pass the context. A timeout
/// counts from the call of the function.
///
/// Start: a callback and a future start the operation at once. An awaitable and a deferred
/// operation do nothing until you await or call them. Do so once.
///
/// Completion: the handler runs on its associated executor, never inside the call. A coroutine
/// resumes on its own executor. Keep the context of that executor running until then. The operation
/// counts as outstanding work of the executor. A handler without an executor of its own, for
/// example a lambda, runs on `asio::system_executor`, so on threads of Asio. The handler's
/// associated allocator is used to post it.
///
/// Cancellation: an operation completes exactly once, with the first of these: its answer, its
/// deadline, its stop token, or Asio's cancellation by the handler's cancellation slot
/// (`cancelled`). The slot takes every type of cancellation as `terminal`: the broker may have
/// carried out the request (see `Failure::outcome_unknown`). A coroutine's slot is connected by
/// Asio.
///
/// Threads: you may start an operation anywhere. No thread waits, so there is no `invalid_state`,
/// but for `async_wait` and `async_connect`.
///
/// Lifetimes: `Client`, `Sender`, `RuleManager`, `SessionReceiver`, `Receiver`, `LockedMessage`,
/// `SessionProcessor` and `Processor` need not outlive the call. A `Browser` must live until
/// completion.
///
/// Thread safety: as the blocking twin's.
///
/// Asio: these functions use the application's own standalone Asio, from version 1.22 on, in any
/// configuration. The library has another copy of Asio inside, in another namespace. A program may
/// include this header and <sessionq/boost_asio.hpp> in different source files, not in the same
/// one.
///
/// GCC 12: if an aggregate is written inside a `co_await` expression, the compiler destroys it
/// twice. This is a defect of the compiler. Give a message a name before you send it, or let a
/// function make it, as `Message::text` does. Give the options of a call, of a client and of TLS a
/// name, too. Otherwise the code does not compile:
///
///     const CallOptions soon{.timeout = std::chrono::seconds{1}};
///     co_await async_send(sender, Message::of("placed").in_session("ada"), soon);
namespace sessionq::inline v1 {}
