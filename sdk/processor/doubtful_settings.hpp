// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
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

/// The same of `worker_threads`, for handlers that keep a worker while they wait.
[[nodiscard]] std::optional<std::string> doubtful_workers(const ProcessorOptions& options);

} // namespace sessionq::processor
