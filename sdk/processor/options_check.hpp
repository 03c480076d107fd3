// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <sessionq/batch_options.hpp>
#include <sessionq/processor_options.hpp>

#include "ports/endpoint.hpp"

namespace sessionq::processor {

/// Throws `invalid_option`, naming the member and what is wrong with it.
void check_options(const ProcessorOptions& options, ports::Scope scope = ports::Scope::session);

/// The same for `SessionProcessor::on_messages`.
void check_batch(const BatchOptions& options);

/// The options as they are once the limits are changed.
[[nodiscard]] ProcessorOptions with_limits(ProcessorOptions options,
                                           const ConcurrencyLimits& limits);

/// Throws `invalid_argument` for none, an empty or a repeated name.
void check_entities(const std::vector<std::string>& entities);

/// Throws `not_supported` where the options need what the broker lacks.
void check_capabilities(const ProcessorOptions& options, const ports::Capabilities& capabilities,
                        ports::Scope scope = ports::Scope::session);

/// Throws `invalid_option` or `not_supported` for a policy that cannot be applied. `member` names
/// it.
void check_failure_policy(const std::string& member, const FailurePolicy& policy,
                          const ProcessorOptions& options, const ports::Capabilities& capabilities,
                          ports::Scope scope);

} // namespace sessionq::processor
