#pragma once

#include <optional>
#include <string>
#include <variant>

#include <sessionq/message.hpp>

namespace sessionq {

/// Takes every message.
struct TrueFilter {
    friend bool operator==(const TrueFilter&, const TrueFilter&) = default;
};

/// Takes no message.
struct FalseFilter {
    friend bool operator==(const FalseFilter&, const FalseFilter&) = default;
};

/// Takes the messages that have all of this. Text is compared with regard to case; what is unset is
/// not looked at.
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

/// Takes the messages of which a condition is true, in the SQL that Microsoft documents for Azure
/// Service Bus's subscription rules: comparison, AND, OR, NOT, IN, LIKE, IS NULL, EXISTS and
/// arithmetic over application properties by their names, and the message's own by theirs with
/// `sys.` before them. Up to 1,024 bytes.
struct SqlFilter {
    std::string expression{};
    friend bool operator==(const SqlFilter&, const SqlFilter&) = default;
};

using Filter = std::variant<TrueFilter, FalseFilter, CorrelationFilter, SqlFilter>;

/// One way into a subscription. All rules without an action together put one copy of a message into
/// it if any of them takes it; each rule with one puts a copy of its own, changed by the action.
///
/// Thread safety: distinct objects are safe; a shared object is safe to read.
struct Rule {
    std::string name{};   ///< 1 to 50 characters; no two of a subscription the same but for case.
    Filter filter{};      ///< Default: every message.
    std::string action{}; ///< `SET name = expression` and `REMOVE name`, with commas or semicolons
                          ///< between. Empty: none. Up to 1,024 bytes.

    friend bool operator==(const Rule&, const Rule&) = default;
};

} // namespace sessionq
