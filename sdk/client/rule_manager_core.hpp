// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sessionq/rule_manager.hpp>

#include "client/calls/operation.hpp"

namespace sessionq::detail::client {

/// Makes the calls of a `RuleManager`. All copies of the manager share one core. The core holds the
/// subscription, and the receive thread that runs all its requests. Thread-safe.
class RuleManagerCore {
public:
    using Rules = std::vector<Rule>;

    /// Throws if the argument is invalid or the broker has no rules.
    RuleManagerCore(std::shared_ptr<ClientCore> client, std::string subscription);

    [[nodiscard]] const std::string& subscription() const noexcept { return subscription_; }

    [[nodiscard]] PublicCall<Rules, void> add(Rule rule, const CallOptions& call) const;
    [[nodiscard]] PublicCall<Rules, void> remove(std::string name, const CallOptions& call) const;
    /// Requests pages until one is not full.
    [[nodiscard]] PublicCall<Rules> list(const CallOptions& call) const;

private:
    [[nodiscard]] PublicCall<Rules, void> change(ports::RulesRequest request,
                                                 const CallOptions& call) const;

    const std::shared_ptr<ClientCore> client_;
    const std::string subscription_;
    EndpointThread& thread_;
};

} // namespace sessionq::detail::client
