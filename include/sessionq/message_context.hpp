#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include <sessionq/deadline.hpp>
#include <sessionq/received_message.hpp>
#include <sessionq/session_context.hpp>

namespace sessionq {

namespace processor {
class MessageCall;
}

/// A message in its handler, and how to settle it otherwise than by returning (completes) or
/// throwing (failure policy).
///
/// Settling decides here and now, once (R8), and is sent without waiting for the broker's answer;
/// an answer that says no goes to `on_error`.
///
/// Valid until the handler returns (coroutines: until it finishes). It may be settled from any
/// thread before that. The broker may lack a place for changed properties or a dead letter's reason
/// (README, "Brokers"); then they are left out.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe.
class MessageContext {
public:
    explicit MessageContext(processor::MessageCall& call) noexcept : call_{&call} {}

    /// A copy of the message may outlive the handler.
    [[nodiscard]] const ReceivedMessage& message() const noexcept;
    [[nodiscard]] SessionContext session() const noexcept;

    /// 1 at first; counts the tries in place under this lease.
    [[nodiscard]] std::uint32_t attempt() const noexcept;

    /// The sooner of the lease's end and the message's own deadline (R22). Also the deadline of the
    /// ambient context.
    [[nodiscard]] Deadline deadline() const noexcept;

    /// The session's; see `SessionContext::stop_token`.
    [[nodiscard]] std::stop_token stop_token() const noexcept;

    /// Whether one of the four calls below has decided it.
    [[nodiscard]] bool settled() const noexcept;

    /// Done: the broker removes it.
    /// Errors of all four: already_settled (also: with `receive_and_delete` there is nothing to
    /// settle); lock_lost; of the last two also not_supported.
    void complete();

    /// Back to the broker, counted as a delivery; it is the next of its session to come (R6).
    void abandon(Properties properties_to_modify = {});

    /// To the dead-letter sub-queue.
    void dead_letter(std::string reason = {}, std::string description = {},
                     Properties properties_to_modify = {});

    /// Set aside until `SessionReceiver::receive_deferred` asks for its sequence number.
    void defer(Properties properties_to_modify = {});

private:
    processor::MessageCall* call_;
};

} // namespace sessionq
