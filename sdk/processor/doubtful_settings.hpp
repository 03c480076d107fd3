// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <sessionq/processor_options.hpp>

namespace sessionq::processor {

/// What is valid and yet cannot work as it seems to be meant, in words that name the members. Told
/// at start.
[[nodiscard]] std::vector<std::string> doubtful_settings(const ProcessorOptions& options);

} // namespace sessionq::processor
