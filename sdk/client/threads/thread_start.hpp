// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include <sessionq/error.hpp>

namespace sessionq::detail::client {

/// Returns the result of `make`, which starts threads. Throws `resource_exhausted` with `complaint`
/// if the system cannot start a thread.
template <typename Make>
auto start_threads(std::string_view complaint, Make make) {
    try {
        return make();
    } catch (const std::system_error& error) {
        throw Error{Errc::resource_exhausted, std::string{complaint} + ": " + error.what()};
    }
}

} // namespace sessionq::detail::client
