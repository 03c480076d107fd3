// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace sessionq::inline v1 {

/// A version, as Semantic Versioning counts. Before 1.0.0, a new minor version may change the API.
struct Version {
    int major{0};
    int minor{0};
    int patch{0};
    std::string_view text{}; ///< For example "1.2.3". It lives as long as the program.
};

/// The version of the library that the program is linked with.
///
/// Thread safety: safe.
[[nodiscard]] Version version() noexcept;

} // namespace sessionq::inline v1
