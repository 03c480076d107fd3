// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include <sessionq/error.hpp>

namespace sessionq::test {

/// Returns the error code of a call that throws, or `Errc{}` if it does not.
inline Errc code_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.failure().code;
    }
    return Errc{};
}

} // namespace sessionq::test
