// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>

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

} // namespace sessionq::detail::processor
