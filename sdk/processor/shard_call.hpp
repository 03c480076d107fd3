// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <functional>

#include <sessionq/completion.hpp>

#include "dispatch/call.hpp"
#include "processor/message/late_end_book.hpp"

namespace sessionq::detail::processor {

class SessionView;

/// A call that reports back to its receive thread: a message, a batch, or a call of an open or
/// close handler. The worker that ran the call queues it with `Workplace::notify`. The shard takes
/// the call from the queue in its next turn.
class ShardCall : public dispatch::Call {
public:
    /// Runs on the loop, once for each time the call was queued. May destroy the call.
    virtual void noticed() = 0;

protected:
    /// Calls `start`, which starts a handler that may end later, such as a coroutine. When the
    /// handler has ended, calls `handler_ended` and then `conclude`, here or on the thread that
    /// ends the handler. Returns the verdict for `run`. If it throws, nothing was started. On a
    /// worker.
    [[nodiscard]] dispatch::Verdict start_late(const std::function<void(Completion)>& start);

private:
    /// The session of the call.
    [[nodiscard]] virtual SessionView& session_view() const noexcept = 0;
    /// Takes the exception of the handler; null: the handler succeeded.
    virtual void handler_ended(std::exception_ptr error) noexcept = 0;
    /// Queues the notice of the handler's end. The loop may destroy the call from then on. Returns
    /// the verdict for `run`.
    virtual dispatch::Verdict conclude() noexcept = 0;

    void ended_late(std::exception_ptr error) noexcept;

    LateEndBook late_end_{};
};

} // namespace sessionq::detail::processor
