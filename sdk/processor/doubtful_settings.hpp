// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sessionq/processor_options.hpp>

#include "ports/capabilities.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::processor {

/// Finds settings that are valid but cannot work as intended with this broker. Returns one sentence
/// for each, which names the members. `ProcessorRuntime` logs them at start.
[[nodiscard]] std::vector<std::string> doubtful_settings(const ProcessorOptions& options,
                                                         const ports::Capabilities& capabilities,
                                                         ports::Scope scope);

/// Warns if `worker_threads` is lower than the number of handlers that may run at once. Matters
/// only for handlers that keep their worker while they wait. Unset: nothing is doubtful.
[[nodiscard]] std::optional<std::string> doubtful_workers(const ProcessorOptions& options);

} // namespace sessionq::processor
