// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <type_traits>

#include "client/calls/operation.hpp"

namespace sessionq::client {

/// The result that the caller of a public function gets of an operation's answer.
template <typename T>
using Returned = std::conditional_t<std::is_same_v<T, core::Done>, void, T>;

/// A public function that waits. The blocking function (`block`) and its awaitable twin (`await`)
/// both run it.
template <typename T, typename R = Returned<T>>
struct PublicCall {
    std::optional<Operation<T>> operation{}; ///< Unset: there is nothing to do.
    /// Makes the caller's result, where the caller waits. Throws a failure.
    std::function<R(core::Result<T>)> finish{
        [](core::Result<T> answer) { return static_cast<R>(std::move(answer).take_or_throw()); }};
};

} // namespace sessionq::client
