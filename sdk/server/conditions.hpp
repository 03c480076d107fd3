// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include <sessionq/error.hpp>

#include "amqp/condition.hpp"

namespace sessionq::server {

/// The error conditions of Service Bus and AMQP, which clients map to their own errors.
namespace condition {
inline constexpr std::string_view argument_error = "com.microsoft:argument-error";
inline constexpr std::string_view entity_already_exists = "com.microsoft:entity-already-exists";
inline constexpr std::string_view entity_disabled = "com.microsoft:entity-disabled";
inline constexpr std::string_view message_lock_lost = "com.microsoft:message-lock-lost";
inline constexpr std::string_view message_not_found = "com.microsoft:message-not-found";
inline constexpr std::string_view server_busy = "com.microsoft:server-busy";
inline constexpr std::string_view session_cannot_be_locked =
    "com.microsoft:session-cannot-be-locked";
inline constexpr std::string_view session_lock_lost = "com.microsoft:session-lock-lost";
inline constexpr std::string_view timeout = "com.microsoft:timeout";
inline constexpr std::string_view connection_forced = "amqp:connection:forced";
inline constexpr std::string_view decode_error = "amqp:decode-error";
inline constexpr std::string_view detach_forced = "amqp:link:detach-forced";
inline constexpr std::string_view internal_error = "amqp:internal-error";
inline constexpr std::string_view invalid_field = "amqp:invalid-field";
inline constexpr std::string_view link_stolen = "amqp:link:stolen";
inline constexpr std::string_view message_size_exceeded = "amqp:link:message-size-exceeded";
inline constexpr std::string_view not_allowed = "amqp:not-allowed";
inline constexpr std::string_view not_found = "amqp:not-found";
inline constexpr std::string_view not_implemented = "amqp:not-implemented";
inline constexpr std::string_view resource_limit_exceeded = "amqp:resource-limit-exceeded";
inline constexpr std::string_view unauthorized_access = "amqp:unauthorized-access";
} // namespace condition

inline constexpr std::string_view no_transactions = "transactions are not supported by this broker";

/// The kind of lock that was lost.
enum class LockKind : std::uint8_t { message, session };

[[nodiscard]] amqp::Condition make_condition(std::string_view name, std::string_view text);

/// Maps a failure to the condition and text that clients recognise.
[[nodiscard]] amqp::Condition condition_of(const Failure& failure, LockKind lock);

/// The answer for an entity that does not exist. One client recognises this error by its text.
[[nodiscard]] amqp::Condition entity_not_found(std::string_view entity);

/// Maps an error to the status code of a management response.
[[nodiscard]] std::int32_t status_of(Errc code) noexcept;

} // namespace sessionq::server
