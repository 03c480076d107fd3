// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <sessionq/processor_options.hpp>

#include "ports/capabilities.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::processor {

/// What is valid and yet cannot work as it seems to be meant with this broker, in words that name
/// the members. Told at start.
[[nodiscard]] std::vector<std::string> doubtful_settings(const ProcessorOptions& options,
                                                         const ports::Capabilities& capabilities,
                                                         ports::Scope scope);

} // namespace sessionq::processor
