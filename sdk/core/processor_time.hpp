// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/time.hpp>

namespace sessionq::core {

/// The processor time that this process has used so far, on all processors.
[[nodiscard]] Duration processor_time() noexcept;

} // namespace sessionq::core
