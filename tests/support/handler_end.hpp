// SPDX-License-Identifier: MIT
#pragma once

#include <exception>

#include <sessionq/completion.hpp>

namespace sessionq::test {

/// Ends a handler with `error`, or with success if it is null. `Completion` itself takes a null
/// exception for a failure.
inline void end_handler(const Completion& completion, const std::exception_ptr& error) {
    if (error) {
        completion.failed(error);
    } else {
        completion.done();
    }
}

} // namespace sessionq::test
