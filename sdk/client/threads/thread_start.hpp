// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include <sessionq/error.hpp>

namespace sessionq::client {

/// Calls `make`, which starts threads. If the system cannot start one, throws `resource_exhausted`
/// with `complaint`.
template <typename Make>
auto start_threads(std::string_view complaint, Make make) {
    try {
        return make();
    } catch (const std::system_error& error) {
        throw Error{Errc::resource_exhausted, std::string{complaint} + ": " + error.what()};
    }
}

} // namespace sessionq::client
