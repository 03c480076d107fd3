// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include <sessionq/error.hpp>
#include <sessionq/result.hpp>

namespace sessionq::core {

/// Returns the exception that is being handled as a failure: that of an `Error`, and
/// resource_exhausted for a lack of memory. `foreign` is the cause of any other exception, whose
/// text becomes the detail. Call it within a `catch` block.
[[nodiscard]] Failure caught_failure(Errc foreign = Errc::internal_error) noexcept;

/// Calls a function that throws, and returns its failure as a value. The public `try_` functions
/// are made of it.
template <typename Call>
[[nodiscard]] sessionq::Result<std::invoke_result_t<Call>> as_result(
    Call call, Errc foreign = Errc::internal_error) noexcept {
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
            call();
            return {};
        } else {
            return call();
        }
    } catch (...) {
        return caught_failure(foreign);
    }
}

} // namespace sessionq::core
