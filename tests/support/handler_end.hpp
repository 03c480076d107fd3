// SPDX-License-Identifier: MIT
#pragma once

#include <exception>

#include <sessionq/handler_done.hpp>

namespace sessionq::test {

/// Ends a handler with `error`, or with success if it is null. `HandlerDone` itself takes a null
/// exception for a failure.
inline void end_handler(const HandlerDone& done, const std::exception_ptr& error) {
    if (error) {
        done(error);
    } else {
        done();
    }
}

} // namespace sessionq::test
