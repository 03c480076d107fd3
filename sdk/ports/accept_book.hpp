// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "core/reply_queue.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::ports {

/// A request to a broker for a session. Its destructor stops asking, and gives back a session that
/// the broker granted meanwhile.
class Asking {
public:
    virtual ~Asking() = default;

    /// The answer when the wait is over.
    [[nodiscard]] virtual Failure none() const { return {.code = Errc::no_session_available}; }
};

/// The accepts of an endpoint that are under way. Each is answered once, by a later turn: with its
/// session or failure, at its deadline, when it is given up, or by the destructor. Bound to the
/// loop.
class AcceptBook {
public:
    explicit AcceptBook(core::EventLoop& loop) : replies_{loop} {}
    ~AcceptBook() { close(); }
    AcceptBook(const AcceptBook&) = delete;
    AcceptBook& operator=(const AcceptBook&) = delete;

    /// Ids rise from call to call. `asking` may also follow by `ask`.
    void add(RequestId id, Deadline deadline, AcceptHandler handler,
             std::unique_ptr<Asking> asking = nullptr);
    /// The accept ends `asking` with its answer.
    void ask(RequestId id, std::unique_ptr<Asking> asking);
    /// The accept, which has its `asking`, ends with `none()` if it has no answer by then. For
    /// brokers that do not limit the wait themselves.
    void wait(RequestId id, Deadline until);

    /// The first answer counts. Ids that are not under way are ignored; a session is then given
    /// back.
    void answer(RequestId id, core::Result<SessionLinkPtr> answer);
    /// The same by this turn, for a caller that has one to itself. The handler may destroy the
    /// book.
    void answer_now(RequestId id, core::Result<SessionLinkPtr> answer);
    void give_up(RequestId id);

    /// Ends accepts whose wait or deadline is over, and returns when to call this again.
    [[nodiscard]] Deadline expire(TimePoint now);

    /// Gives every accept that is left the answer `cancelled`, now.
    void close();

private:
    struct Accept {
        AcceptHandler handler;
        Deadline deadline{};
        Deadline wait{};
        std::unique_ptr<Asking> asking{};
        std::optional<core::Result<SessionLinkPtr>> answer{};
    };

    void stop(RequestId id, Failure why);
    void reply(RequestId id);

    std::map<RequestId, Accept> accepts_{};
    Deadline next_{}; // no accept ends before it
    core::ReplyQueue replies_;
};

} // namespace sessionq::ports
