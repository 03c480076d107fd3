// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <sessionq/error.hpp>

namespace sessionq::detail::processor {

/// Returns the text of an exception that the user's code threw.
[[nodiscard]] inline std::string exception_text(const std::exception_ptr& error) noexcept {
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& known) {
        return known.what();
    } catch (...) {
        return "an exception not derived from std::exception";
    }
}

/// Returns an `Error` with the failure. It avoids `std::make_exception_ptr`: if the application is
/// built without exceptions and uses it for `Error`, the linker may take the application's, which
/// returns null.
[[nodiscard]] inline std::exception_ptr to_exception(Failure failure) noexcept {
    try {
        throw Error{std::move(failure)};
    } catch (...) {
        return std::current_exception();
    }
}

/// Returns an exception that the user's code threw as a value.
[[nodiscard]] inline Failure exception_failure(const std::exception_ptr& error) noexcept {
    try {
        std::rethrow_exception(error);
    } catch (const Error& known) {
        return known.failure();
    } catch (...) {
        return {.code = Errc::handler_failed, .detail = exception_text(error)};
    }
}

} // namespace sessionq::detail::processor
