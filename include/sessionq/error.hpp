// SPDX-License-Identifier: MIT
#pragma once

#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace sessionq::inline v1 {

/// Why an operation failed: one value per cause. `Failure` keeps the broker's own words apart.
///
/// Each function documents its errors as a closed list. "The broker's" in such a list stands for
/// the errors of every function that asks a broker:
/// - timeout, cancelled,
/// - invalid_state (called on a receive thread, where nothing may wait),
/// - invalid_argument and not_supported (also as the broker's answer),
/// - entity_not_found, entity_disabled, session_required, unauthorized, quota_exceeded,
///   server_busy,
/// - of the connection: connection_lost, connection_refused, peer_untrusted, resource_exhausted,
///   protocol_error (also: the broker gave a reason that sessionq does not know).
enum class Errc {
    /// An argument is unusable. `detail` names it.
    invalid_argument = 1,
    /// An options member is out of range or contradicts another. `detail` names the member.
    invalid_option,
    /// The object cannot do this now (not started, already started, already stopped). Every
    /// function of an object that was moved from throws it, `stop` and the destructor aside.
    invalid_state,
    /// The broker, or this kind of entity, cannot do it. `detail` names both.
    not_supported,
    /// The deadline passed before the operation finished.
    timeout,
    /// The caller's stop token fired, or the object was closed or stopped.
    cancelled,
    /// Accept: no unlocked session had a message within the wait. This is not a fault.
    no_session_available,
    /// Accept: another receiver holds the named session.
    session_locked_elsewhere,
    /// The broker says that there is no such session.
    session_not_found,
    /// The lock of the session, or of the message, is gone. Settling is no longer possible.
    lock_lost,
    /// The message was settled before.
    already_settled,
    /// There is no message with that sequence number.
    message_not_found,
    /// There is no such queue, topic or subscription.
    entity_not_found,
    /// The entity exists and refuses work.
    entity_disabled,
    /// The entity has sessions and the call or message named none, or the reverse.
    session_required,
    /// The broker rejected the credentials, or they do not allow this.
    unauthorized,
    /// The entity or broker is full.
    quota_exceeded,
    /// The message exceeds the limit of the link or entity.
    message_too_large,
    /// An entity of that name exists already.
    duplicate_entity,
    /// The broker asks to slow down.
    server_busy,
    /// The connection or link ended during the operation.
    connection_lost,
    /// No connection could be made.
    connection_refused,
    /// The peer broke the protocol.
    protocol_error,
    /// This side ran out of memory, descriptors or handles, or an answer exceeds a bound of ours.
    resource_exhausted,
    /// A user callback threw. `detail` contains its message.
    handler_failed,
    /// The peer's certificate is not trusted, has expired, or belongs to another host.
    peer_untrusted,
    /// A defect in sessionq. Please report it.
    internal_error,
};

/// The category of `Errc`. Its name is "sessionq". Thread safety: safe.
///
/// Its codes equal the conditions of the standard that mean the same, so code that knows no
/// sessionq can ask `error.code() == std::errc::timed_out`:
/// - invalid_argument and invalid_option: `std::errc::invalid_argument`,
/// - not_supported: `std::errc::not_supported`,
/// - timeout: `std::errc::timed_out`,
/// - cancelled: `std::errc::operation_canceled`,
/// - unauthorized: `std::errc::permission_denied`,
/// - message_too_large: `std::errc::message_size`,
/// - connection_lost: `std::errc::connection_reset`,
/// - connection_refused: `std::errc::connection_refused`,
/// - protocol_error: `std::errc::protocol_error`.
/// The others equal none.
[[nodiscard]] const std::error_category& error_category() noexcept;

/// Makes an `Errc` comparable with a `std::error_code`. Thread safety: safe.
[[nodiscard]] std::error_code make_error_code(Errc value) noexcept;

/// Whether a cause means the same as a condition of the standard, see `error_category`. C++ looks
/// for no conversion between two enums, so this function stands for it. Thread safety: safe.
[[nodiscard]] bool operator==(Errc left, std::errc right) noexcept;

/// A failure as a value: sessionq's cause and words, and the peer's, kept apart. It never contains
/// a secret.
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
struct Failure {
    Errc code{Errc::internal_error};

    /// sessionq's words. They name the field, entity, session or limit.
    std::string detail{};

    /// The peer's symbol (AMQP error condition). Empty: the failure is not the peer's.
    std::string peer_condition{};

    /// The peer's description, unchanged. It may contain user input.
    std::string peer_text{};

    /// The request was sent and not answered, so the broker may have carried it out.
    bool outcome_unknown{false};

    /// Whether the same operation may succeed later without a change by the caller. It does not say
    /// that a retry is safe: after `timeout` or `connection_lost` the broker may have carried out
    /// the first attempt.
    [[nodiscard]] bool retryable() const noexcept;

    /// One line for people: the category's text, the detail, and the peer's words marked as such.
    [[nodiscard]] std::string to_string() const;
};

/// The only exception type of sessionq.
///
/// Example:
///
///     try {
///         sender.send(Message::of("placed").in_session("ada"));
///     } catch (const Error& error) {
///         if (error.code() == Errc::quota_exceeded) {
///             std::cerr << "the queue is full\n";
///         } else if (!error.retryable()) {
///             throw;
///         }
///     }
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class Error : public std::runtime_error {
public:
    explicit Error(Failure failure);
    Error(Errc code, std::string detail);

    [[nodiscard]] std::error_code code() const noexcept { return make_error_code(failure_.code); }
    [[nodiscard]] const Failure& failure() const noexcept { return failure_; }
    [[nodiscard]] bool retryable() const noexcept { return failure_.retryable(); }
    /// Whether the broker may have carried out the request. See `Failure::outcome_unknown`.
    [[nodiscard]] bool outcome_unknown() const noexcept { return failure_.outcome_unknown; }

private:
    Failure failure_;
};

/// The name of the cause, for example "lock_lost".
[[nodiscard]] std::string_view to_string(Errc value) noexcept;

/// Writes `to_string(value)`.
std::ostream& operator<<(std::ostream& out, Errc value);

} // namespace sessionq::inline v1

template <>
struct std::is_error_code_enum<sessionq::Errc> : std::true_type {};
