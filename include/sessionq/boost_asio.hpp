// SPDX-License-Identifier: MIT
#pragma once

#include <utility> // which awaitable.hpp of Boost 1.74 needs and does not include

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/mapping.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/version.hpp>

#if BOOST_ASIO_VERSION >= 101900 // Boost 1.77
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#endif

#ifndef BOOST_ASIO_HAS_CO_AWAIT
#error "Boost.Asio sees no coroutines: old versions need -DBOOST_ASIO_HAS_CO_AWAIT with Clang"
#endif
#ifdef SESSIONQ_HAS_ASYNC_FUNCTIONS
#error "include <sessionq/async.hpp> and <sessionq/boost_asio.hpp> in different source files"
#endif
#define SESSIONQ_HAS_ASYNC_FUNCTIONS

#define SESSIONQ_ASIO boost::asio
#define SESSIONQ_ASIO_ADAPTER on_boost_asio
#if BOOST_ASIO_VERSION >= 101900
#define SESSIONQ_ASIO_CANCELS 1
#else
#define SESSIONQ_ASIO_CANCELS 0
#endif
#include <sessionq/detail/async_functions.hpp> // IWYU pragma: export
#undef SESSIONQ_ASIO
#undef SESSIONQ_ASIO_ADAPTER
#undef SESSIONQ_ASIO_CANCELS

/// The functions of <sessionq/async.hpp> for Boost.Asio: read `boost::asio` for `asio` there.
///
/// Example:
///
///     const auto forward = [](Client client, Message message) -> boost::asio::awaitable<void> {
///         Sender sender{client, "orders"};
///         co_await async_send(sender, std::move(message));
///     };
///
/// Versions: Boost 1.74 and later, with coroutines of C++20. Before Boost 1.77, Boost.Asio has no
/// cancellation slots: end a call by `CallOptions::stop` instead. The stop token of a session then
/// does not cancel what a coroutine handler waits for. The handler may ask
/// `MessageContext::stop_token`.
///
/// Include this header and <sessionq/async.hpp> in different source files.
namespace sessionq::inline v1 {}
