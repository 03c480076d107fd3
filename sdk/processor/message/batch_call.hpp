// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include <sessionq/deadline.hpp>
#include <sessionq/message_context.hpp>

#include "core/tracing.hpp"
#include "processor/message/late_end_book.hpp"
#include "processor/report/meters.hpp"
#include "processor/shard_call.hpp"

namespace sessionq::processor {

class MessageCall;
class SessionDriver;

/// Messages of one session that one handler handles together. Made on the worker that runs the
/// first of them, which takes the others from the lane. Told to the loop as one notice, which comes
/// after all that the messages had to tell before. Ends itself there.
class BatchCall final : public ShardCall {
public:
    /// Runs the handler of batches for `first`, which may start, and for what joins it.
    static dispatch::Verdict handle(MessageCall& first, TimePoint now);

    void noticed() override;

private:
    BatchCall(MessageCall& first, TimePoint now);

    dispatch::Verdict run() noexcept override;
    void take(MessageCall& call, TimePoint now);
    void take_more(std::size_t most, TimePoint now);
    /// The context of the handler, with that of its span.
    [[nodiscard]] OperationContext begin();
    dispatch::Verdict start_asynchronous();
    void asynchronous_done(std::exception_ptr error) noexcept;
    dispatch::Verdict conclude() noexcept;
    /// The handler does not run.
    dispatch::Verdict give_back() noexcept;
    dispatch::Verdict tell() noexcept;
    void end_all();
    void hold_for(std::size_t messages);

    SessionDriver* driver_;
    std::vector<MessageCall*> calls_{}; ///< once it has ended: in the order of telling
    std::vector<MessageContext> contexts_{};
    Deadline deadline_{Deadline::never()}; ///< the soonest of the messages
    LateEndBook late_end_{};
    std::exception_ptr error_{}; ///< what the handler threw
    core::OpenSpan span_{};
    CallTimes times_{}; ///< of the handler
    Ending ending_{Ending::handled};
};

} // namespace sessionq::processor
