// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sessionq/processor_options.hpp>

#include "ports/capabilities.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::detail::processor {

/// Returns one sentence for each setting that is valid but cannot work as intended with this
/// broker. The sentence names the members. `ProcessorRuntime` logs the sentences at start.
[[nodiscard]] std::vector<std::string> doubtful_settings(const SessionProcessorOptions& options,
                                                         const ports::Capabilities& capabilities,
                                                         ports::Scope scope);

/// Returns a warning if `worker_threads` is lower than the number of handlers that may run at once.
/// Unset: nothing is doubtful. The warning matters only for handlers that keep their worker while
/// they wait.
[[nodiscard]] std::optional<std::string> doubtful_workers(const SessionProcessorOptions& options);

} // namespace sessionq::detail::processor
