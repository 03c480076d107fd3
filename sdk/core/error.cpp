// SPDX-License-Identifier: MIT
#include <sessionq/error.hpp>

#include <array>
#include <optional>
#include <utility>

#include <sessionq/result.hpp>

namespace sessionq::inline v1 {
namespace {

struct Row {
    Errc code;
    std::string_view name;
    const char* text;
    bool retryable;
};

constexpr std::array rows{
    Row{Errc::invalid_argument, "invalid_argument", "invalid argument", false},
    Row{Errc::invalid_option, "invalid_option", "invalid option", false},
    Row{Errc::invalid_state, "invalid_state", "not possible in this state", false},
    Row{Errc::not_supported, "not_supported", "not supported by the broker", false},
    Row{Errc::timeout, "timeout", "the deadline passed", true},
    Row{Errc::cancelled, "cancelled", "cancelled", false},
    Row{Errc::no_session_available, "no_session_available", "no session available", true},
    Row{Errc::session_locked_elsewhere, "session_locked_elsewhere",
        "the session is locked by another receiver", true},
    Row{Errc::session_not_found, "session_not_found", "no such session", false},
    Row{Errc::lock_lost, "lock_lost", "the lock is lost", false},
    Row{Errc::already_settled, "already_settled", "the message is already settled", false},
    Row{Errc::message_not_found, "message_not_found", "no such message", false},
    Row{Errc::entity_not_found, "entity_not_found", "no such entity", false},
    Row{Errc::entity_disabled, "entity_disabled", "the entity is disabled", false},
    Row{Errc::session_required, "session_required", "the use of sessions does not match the entity",
        false},
    Row{Errc::unauthorized, "unauthorized", "the credentials were rejected", false},
    Row{Errc::quota_exceeded, "quota_exceeded", "the quota is exceeded", true},
    Row{Errc::message_too_large, "message_too_large", "the message is too large", false},
    Row{Errc::duplicate_entity, "duplicate_entity", "the entity already exists", false},
    Row{Errc::server_busy, "server_busy", "the broker is busy", true},
    Row{Errc::connection_lost, "connection_lost", "the connection was lost", true},
    Row{Errc::connection_refused, "connection_refused", "cannot connect", true},
    Row{Errc::protocol_error, "protocol_error", "the peer broke the protocol", true},
    Row{Errc::resource_exhausted, "resource_exhausted", "out of resources", true},
    Row{Errc::peer_untrusted, "peer_untrusted", "the peer's certificate is not trusted", false},
    Row{Errc::handler_failed, "handler_failed", "a handler failed", true},
    Row{Errc::internal_error, "internal_error", "a defect in sessionq", false},
};

const Row* find(int value) noexcept {
    for (const Row& row : rows) {
        if (static_cast<int>(row.code) == value) {
            return &row;
        }
    }
    return nullptr;
}

/// The condition of the standard that means the same. Nothing: it has none.
std::optional<std::errc> standard_condition(Errc code) noexcept {
    switch (code) {
    case Errc::invalid_argument:
    case Errc::invalid_option: return std::errc::invalid_argument;
    case Errc::not_supported: return std::errc::not_supported;
    case Errc::timeout: return std::errc::timed_out;
    case Errc::cancelled: return std::errc::operation_canceled;
    case Errc::unauthorized: return std::errc::permission_denied;
    case Errc::message_too_large: return std::errc::message_size;
    case Errc::connection_lost: return std::errc::connection_reset;
    case Errc::connection_refused: return std::errc::connection_refused;
    case Errc::protocol_error: return std::errc::protocol_error;
    default: return std::nullopt;
    }
}

class Category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "sessionq"; }
    [[nodiscard]] std::string message(int value) const override {
        const Row* row = find(value);
        return row != nullptr ? row->text : "unknown error";
    }
    [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
        const auto same = standard_condition(static_cast<Errc>(value));
        return same ? std::make_error_condition(*same) : std::error_condition{value, *this};
    }
};

} // namespace

const std::error_category& error_category() noexcept {
    static const Category category;
    return category;
}

std::error_code make_error_code(Errc value) noexcept {
    return {static_cast<int>(value), error_category()};
}

bool operator==(Errc left, std::errc right) noexcept { return make_error_code(left) == right; }

std::string_view to_string(Errc value) noexcept {
    const Row* row = find(static_cast<int>(value));
    return row != nullptr ? row->name : "unknown";
}

bool Failure::retryable() const noexcept {
    const Row* row = find(static_cast<int>(code));
    return row != nullptr && row->retryable;
}

std::string Failure::to_string() const {
    std::string line = make_error_code(code).message();
    if (!detail.empty()) {
        line.append(": ").append(detail);
    }
    if (outcome_unknown) {
        line.append(detail.empty() ? ": the request" : "; the request")
            .append(" was sent; its outcome is unknown");
    }
    if (!peer_condition.empty() || !peer_text.empty()) {
        line.append(" [peer: ").append(peer_condition);
        if (!peer_text.empty()) {
            line.append(peer_condition.empty() ? "" : ": ").append(peer_text);
        }
        line.append("]");
    }
    return line;
}

Error::Error(Failure failure)
    : std::runtime_error{failure.to_string()}, failure_{std::move(failure)} {}

Error::Error(Errc code, std::string detail)
    : Error{Failure{.code = code, .detail = std::move(detail)}} {}

} // namespace sessionq::inline v1

namespace sessionq::detail {

void throw_error(Failure failure) { throw Error{std::move(failure)}; }

} // namespace sessionq::detail
