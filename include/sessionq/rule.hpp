// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <variant>

#include <sessionq/message.hpp>

namespace sessionq::inline v1 {

/// Selects every message.
struct TrueFilter {
    friend bool operator==(const TrueFilter&, const TrueFilter&) = default;
};

/// Selects no message.
struct FalseFilter {
    friend bool operator==(const FalseFilter&, const FalseFilter&) = default;
};

/// Selects messages that match all members. Unset members match anything. Comparison respects case.
/// Numbers of all types are compared by size.
struct CorrelationFilter {
    std::optional<std::string> content_type{};
    std::optional<std::string> correlation_id{};
    std::optional<std::string> message_id{};
    std::optional<std::string> reply_to{};
    std::optional<std::string> reply_to_session_id{};
    std::optional<std::string> session_id{};
    std::optional<std::string> subject{};
    std::optional<std::string> to{};
    Properties properties{}; ///< Application properties.

    friend bool operator==(const CorrelationFilter&, const CorrelationFilter&) = default;
};

/// Selects messages for which an SQL condition is true. Microsoft documents the SQL of Azure
/// Service Bus's subscription rules. It has comparison, AND, OR, NOT, IN, LIKE, IS NULL, EXISTS and
/// arithmetic. A name means an application property. With `sys.` before it, it means a standard
/// property. Integers, doubles and decimals are compared by size, and calculation with decimals is
/// exact. UUIDs, characters and URIs are compared as texts, because SQL has no constants of these
/// types. Range: up to 1,024 bytes.
struct SqlFilter {
    std::string expression{};
    friend bool operator==(const SqlFilter&, const SqlFilter&) = default;
};

using Filter = std::variant<TrueFilter, FalseFilter, CorrelationFilter, SqlFilter>;

/// A rule of a subscription: it copies the topic's messages that its filter selects.
///
/// A message that several rules without an action select is copied once. Each rule with an action
/// adds a copy of its own, changed by the action.
///
/// Example:
///
///     LocalBroker broker;
///     broker.create_topic("orders");
///     broker.create_subscription("orders", "gold",
///                                {.rules = {{.name = "none", .filter = FalseFilter{}}}});
///     broker.add_rule("orders", "gold",
///                     {.name = "subject", .filter = CorrelationFilter{.subject = "gold"}});
///     broker.add_rule("orders", "gold", {.name = "all", .filter = TrueFilter{}});
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
struct Rule {
    /// Range: 1 to 50 characters, unique in the subscription. Names ignore case.
    std::string name{};

    /// Which messages the rule selects. Default: every message.
    Filter filter{};

    /// `SET name = expression` and `REMOVE name`, separated by commas or semicolons. Range: up to
    /// 1,024 bytes. Empty: no change. A property that is set to another one has its type, also if
    /// it is one that expressions do not know. Default empty.
    std::string action{};

    friend bool operator==(const Rule&, const Rule&) = default;
};

} // namespace sessionq::inline v1
