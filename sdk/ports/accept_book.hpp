// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "core/reply_queue.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::ports {

/// The request that one accept makes to the broker. A port makes it. The `AcceptBook` keeps it
/// until the accept is answered. Its destructor stops asking, and gives back a session that the
/// broker granted meanwhile.
class Asking {
public:
    virtual ~Asking() = default;

    /// The answer if the wait ends before the broker answers.
    [[nodiscard]] virtual Failure none() const { return {.code = Errc::no_session_available}; }
};

/// Answers each accept of an endpoint once. The endpoint of every port has a book, and adds each
/// accept to it. An accept ends with its session or failure, at its deadline, when it is given up,
/// or in the book's destructor.
///
/// The answer comes by a later turn of the loop, except from `answer_now` and `close`. Bound to the
/// loop.
class AcceptBook {
public:
    explicit AcceptBook(core::EventLoop& loop) : replies_{loop} {}
    ~AcceptBook() { close(); }
    AcceptBook(const AcceptBook&) = delete;
    AcceptBook& operator=(const AcceptBook&) = delete;

    /// Adds an accept. Ids rise from call to call. If `asking` is null, a later call of `ask` adds
    /// it.
    void add(RequestId id, Deadline deadline, AcceptHandler handler,
             std::unique_ptr<Asking> asking = nullptr);
    /// Adds the `asking` of an accept. It is destroyed with the accept's answer.
    void ask(RequestId id, std::unique_ptr<Asking> asking);
    /// Limits the wait of an accept that has an `asking`. If the accept has no answer at `until`,
    /// it ends with `none()` of its `asking`. For brokers that do not limit the wait themselves.
    void wait(RequestId id, Deadline until);

    /// Answers an accept. The first answer counts. If the id is unknown or answered already, the
    /// answer is ignored and its session is given back.
    void answer(RequestId id, core::Result<SessionLinkPtr> answer);
    /// Does the same as `answer`, but runs the handler within this call. Only for a caller that
    /// touches nothing afterwards: the handler may destroy the book.
    void answer_now(RequestId id, core::Result<SessionLinkPtr> answer);
    void give_up(RequestId id);

    /// Ends accepts whose wait or deadline has expired. Returns when to call it again.
    [[nodiscard]] Deadline expire(TimePoint now);

    /// Answers every accept that is left with `cancelled`, within this call.
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
    [[nodiscard]] Accept take(std::map<RequestId, Accept>::iterator at);

    std::map<RequestId, Accept> accepts_{};
    std::map<RequestId, Accept>::node_type spare_{}; // memory of an accept that ended, for the next
    Deadline next_{};                                // no accept ends before it
    core::ReplyQueue replies_;
};

} // namespace sessionq::ports
