// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sessionq/call_options.hpp>
#include <sessionq/client.hpp>
#include <sessionq/result.hpp>
#include <sessionq/rule.hpp>

namespace sessionq::detail::client {
class RuleManagerCore;
struct Access;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

/// Adds, removes and lists the rules of a subscription. A shared handle: cheap to copy. It keeps
/// its client alive.
///
/// Example:
///
///     const RuleManager rules{client, "orders/subscriptions/audit"};
///     rules.add({.name = "large", .filter = SqlFilter{"amount > 1000"}});
///     rules.remove("$Default"); // the rule of a new subscription; it selects every message
///     for (const Rule& rule : rules.list()) {
///         std::cout << rule.name << '\n';
///     }
///
/// A change applies to messages that the topic receives afterwards. A message that no rule selects
/// is not copied to the subscription.
///
/// On a network a rule that selects every message, or none, is an SQL filter: "1=1" or "1=0".
/// `list` returns such a filter as `TrueFilter` or `FalseFilter`.
///
/// Blocking: every function waits for the broker's answer, until the deadline of the call
/// (`CallOptions`).
///
/// Rights: `sessionqd` and Azure Service Bus ask for Listen or Manage.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for assignment.
class RuleManager {
public:
    /// Sends nothing yet. `subscription` is "TOPIC/subscriptions/NAME".
    /// Errors: invalid_argument (`subscription` must have 1 to 260 characters), not_supported (the
    /// broker has no rules).
    RuleManager(const Client& client, std::string subscription);

    [[nodiscard]] const std::string& subscription() const;

    /// Adds a rule.
    /// Errors: the broker's (see `Errc`), duplicate_entity (the subscription has a rule of this
    /// name). In particular invalid_argument (the name, filter or action; names the fault),
    /// quota_exceeded (the subscription has too many rules), not_supported (the entity is no
    /// subscription).
    void add(Rule rule, const CallOptions& call = {}) const;

    /// Removes the rule of this name. Case does not matter.
    /// Errors: the broker's (see `Errc`). In particular invalid_argument (`name` must have 1 to 50
    /// characters), entity_not_found (there is no such rule), not_supported (the entity is no
    /// subscription).
    void remove(std::string name, const CallOptions& call = {}) const;

    /// Returns all rules, in the broker's order. Rules that are added or removed meanwhile may be
    /// missing or returned twice.
    /// Errors: the broker's (see `Errc`). In particular not_supported (the entity is no
    /// subscription).
    [[nodiscard]] std::vector<Rule> list(const CallOptions& call = {}) const;

    // The same for programs that take errors as values. `Result` says what holds for all.

    /// Makes a rule manager. Sends nothing yet. Does what the constructor does, and returns the
    /// failure instead of throwing it.
    static Result<RuleManager> try_make(const Client& client, std::string subscription) noexcept;

    /// Adds a rule. Does what `add` does, and returns the failure instead of throwing it.
    Result<void> try_add(Rule rule, const CallOptions& call = {}) const noexcept;

    /// Removes the rule of this name. Does what `remove` does, and returns the failure instead of
    /// throwing it.
    Result<void> try_remove(std::string name, const CallOptions& call = {}) const noexcept;

    /// Returns all rules, in the broker's order. Does what `list` does, and returns the failure
    /// instead of throwing it.
    Result<std::vector<Rule>> try_list(const CallOptions& call = {}) const noexcept;

private:
    friend struct detail::client::Access;

    std::shared_ptr<const detail::client::RuleManagerCore> core_;
};

} // namespace sessionq::inline v1
