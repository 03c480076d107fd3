// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <sessionq/batch_options.hpp>
#include <sessionq/processor_options.hpp>

#include "ports/endpoint.hpp"

namespace sessionq::detail::processor {

/// Checks the options when a processor is made and when its limits change. Throws `invalid_option`
/// with the name of the member and its fault.
void check_options(const SessionProcessorOptions& options,
                   ports::Scope scope = ports::Scope::session);

/// Checks the options of `SessionProcessor::on_messages` in the same way.
void check_batch(const BatchOptions& options);

/// Returns the options with the new limits.
[[nodiscard]] SessionProcessorOptions with_limits(SessionProcessorOptions options,
                                                  const SessionProcessorLimits& limits);

/// Throws `invalid_argument` if there is no entity, or if a name is empty or repeated.
void check_entities(const std::vector<std::string>& entities);

/// Throws `not_supported` if the options need a feature that the broker lacks. Throws
/// `invalid_option` if two session ids name the same session at the broker.
void check_capabilities(const SessionProcessorOptions& options,
                        const ports::Capabilities& capabilities,
                        ports::Scope scope = ports::Scope::session);

/// Checks a policy that `on_failure` returned. Throws `invalid_option` or `not_supported` if the
/// policy cannot be applied. `member`: the name of the policy in the error.
void check_failure_policy(const std::string& member, const FailurePolicy& policy,
                          const SessionProcessorOptions& options,
                          const ports::Capabilities& capabilities, ports::Scope scope);

} // namespace sessionq::detail::processor
