// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace sessionq::sessionqd {

/// Raises the process's limit of open files towards `wanted`, as far as the system allows, and
/// returns how many files it may open now.
[[nodiscard]] std::size_t raise_file_limit(std::size_t wanted) noexcept;

} // namespace sessionq::sessionqd
