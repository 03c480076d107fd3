#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace sessionq {

/// Why an operation failed: one value per cause. A peer's own words are kept apart, in `Failure`.
///
/// Each call documents its errors as a closed list. What every call that asks a broker has in
/// common is written there as "the broker's" and means: timeout, cancelled, invalid_state (called
/// on a receive thread, where nothing may wait), invalid_argument and not_supported (also as the
/// broker's answer), entity_not_found, entity_disabled, session_required, unauthorized,
/// quota_exceeded, server_busy, and of the way to it: connection_lost, connection_refused,
/// peer_untrusted, resource_exhausted, protocol_error (also: it refused for a reason that is not
/// known here).
enum class Errc {
    invalid_argument = 1, ///< A value passed to a call is unusable; `detail` names it.
    invalid_option, ///< An options member is out of range or contradicts another; `detail` names
                    ///< the member.
    invalid_state,  ///< The object cannot do this now (not started, already started, already
                    ///< stopped).
    not_supported,  ///< The broker, or this kind of entity, cannot do it; `detail` says who and
                    ///< what.
    timeout,        ///< The deadline passed before the operation finished.
    cancelled,      ///< The caller's stop token fired, or the object was closed or stopped.
    no_session_available,     ///< Accept: no unlocked session had a message within the wait. Not a
                              ///< fault (R5).
    session_locked_elsewhere, ///< Accept: the named session is held by another receiver.
    session_not_found,        ///< The broker says that there is no such session.
    lock_lost, ///< The lease of the session (or the lock of the message) is gone; settle nothing
               ///< more.
    already_settled,   ///< The message was settled before (R8).
    message_not_found, ///< No message with that sequence number.
    entity_not_found,  ///< No such queue, topic or subscription.
    entity_disabled,   ///< The entity exists and refuses work.
    session_required, ///< The entity is sessionful and the call or message named no session, or the
                      ///< reverse.
    unauthorized,     ///< The credentials were refused, or do not allow this.
    quota_exceeded,   ///< The entity or broker is full.
    message_too_large,  ///< The message exceeds what the link or entity takes.
    duplicate_entity,   ///< An entity of that name exists already.
    server_busy,        ///< The broker asks to slow down.
    connection_lost,    ///< The connection or link ended under the operation.
    connection_refused, ///< No connection could be made.
    protocol_error,     ///< The peer broke the protocol.
    resource_exhausted, ///< Memory, descriptors or handles ran out on this side.
    handler_failed,     ///< A user callback threw; `detail` carries its message.
    peer_untrusted, ///< The peer's certificate is not trusted, has expired, or is another host's.
    internal_error, ///< A defect in sessionq. Please report it.
};

/// The category of `Errc`; its name is "sessionq". Thread safety: safe.
[[nodiscard]] const std::error_category& error_category() noexcept;

/// Lets an `Errc` be compared with a `std::error_code`. Thread safety: safe.
[[nodiscard]] std::error_code make_error_code(Errc value) noexcept;

/// What went wrong, as a value: our cause and words, and the peer's, kept apart. Never holds a
/// secret (R24).
///
/// Thread safety: distinct objects are safe; a shared object is safe to read.
struct Failure {
    Errc code{Errc::internal_error};
    std::string detail{}; ///< Our words: names the field, entity, session or limit concerned.
    std::string peer_condition{}; ///< The peer's symbol (AMQP error condition), empty when the
                                  ///< failure is ours.
    std::string peer_text{};      ///< The peer's description, verbatim; may hold user input.
    bool outcome_unknown{false};  ///< The request was sent and not answered: the broker may have
                                  ///< acted on it.

    /// Whether the same call may succeed later without a change by the caller. It says nothing of
    /// whether repeating is safe: after `timeout` or `connection_lost` the first may have been
    /// carried out.
    [[nodiscard]] bool retryable() const noexcept;

    /// One line for people: category text, detail, and the peer's words marked as such.
    [[nodiscard]] std::string to_string() const;
};

/// The one exception type of sessionq.
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class Error : public std::runtime_error {
public:
    explicit Error(Failure failure);
    Error(Errc code, std::string detail);

    [[nodiscard]] std::error_code code() const noexcept { return make_error_code(failure_.code); }
    [[nodiscard]] const Failure& failure() const noexcept { return failure_; }
    [[nodiscard]] bool retryable() const noexcept { return failure_.retryable(); }
    /// Whether the request was sent and not answered: the broker may have acted on it.
    [[nodiscard]] bool outcome_unknown() const noexcept { return failure_.outcome_unknown; }

private:
    Failure failure_;
};

/// The cause in words, for example "lock_lost".
[[nodiscard]] std::string_view to_string(Errc value) noexcept;

} // namespace sessionq

template <>
struct std::is_error_code_enum<sessionq::Errc> : std::true_type {};
