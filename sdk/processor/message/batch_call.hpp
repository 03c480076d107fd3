// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <sessionq/deadline.hpp>
#include <sessionq/message_context.hpp>

#include "core/tracing.hpp"
#include "processor/report/meters.hpp"
#include "processor/shard_call.hpp"

namespace sessionq::detail::processor {

class MessageCall;
class SessionDriver;

/// One call of a handler of batches, with the messages of one session that the handler gets
/// together. `MessageCall::run` makes the call on the worker that took the first message. The call
/// takes the other messages from the lane. When the handler has ended, the loop gets one notice for
/// all messages. This notice comes after all earlier notices of the messages. The call then
/// destroys itself on the loop.
class BatchCall final : public ShardCall {
public:
    /// Makes a batch of `first` and the messages that join it, and runs the handler of batches. If
    /// the session is paused by then, the handler does not run and all messages return to the lane.
    static dispatch::Verdict handle(MessageCall& first, TimePoint now);

    void noticed() override;

private:
    BatchCall(MessageCall& first, TimePoint now);

    dispatch::Verdict run() noexcept override;
    void take(MessageCall& call, TimePoint now);
    void take_more(std::size_t most, TimePoint now);
    /// Begins the span of the handler. Returns the handler's context, with that of the span.
    [[nodiscard]] OperationContext begin();
    [[nodiscard]] SessionView& session_view() const noexcept override;
    void handler_ended(std::exception_ptr error) noexcept override { error_ = std::move(error); }
    dispatch::Verdict conclude() noexcept override;
    /// The handler does not run, and all messages return to the lane.
    dispatch::Verdict give_back() noexcept;
    dispatch::Verdict tell() noexcept;
    void end_all();
    void hold_for(std::size_t messages);

    SessionDriver* driver_;
    std::vector<MessageCall*>
        calls_{}; ///< after the end of the handler: in the order in which the session is told
    std::vector<MessageContext> contexts_{};
    Deadline deadline_{Deadline::never()}; ///< the soonest deadline of the messages
    std::exception_ptr error_{};           ///< the exception of the handler
    core::OpenSpan span_{};
    CallTimes times_{}; ///< the start and the end of the handler
    Ending ending_{Ending::handled};
};

} // namespace sessionq::detail::processor
