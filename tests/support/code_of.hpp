#pragma once

#include <functional>

#include <sessionq/error.hpp>

namespace sessionq::test {

/// The cause with which a call fails; none of them if it does not.
inline Errc code_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.failure().code;
    }
    return Errc{};
}

} // namespace sessionq::test
