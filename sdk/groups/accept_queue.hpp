#pragma once

#include <list>
#include <optional>

#include "core/reply_queue.hpp"
#include "ports/endpoint.hpp"
#include "timing/timer.hpp"

namespace sessionq::groups {

/// The accepts that wait for a group of one receiver, in order. Each is answered once, by a later
/// turn (R15). Bound to the loop.
class AcceptQueue {
public:
    /// Told when an accept has ended without a session.
    class Owner {
    public:
        virtual void on_accept_ended() = 0;

    protected:
        ~Owner() = default;
    };

    /// `none` is the answer when there is no group to give.
    AcceptQueue(core::EventLoop& loop, core::ReplyQueue& replies, Failure none, Owner& owner)
        : loop_{loop}, replies_{replies}, none_{std::move(none)}, owner_{owner} {}
    AcceptQueue(const AcceptQueue&) = delete;
    AcceptQueue& operator=(const AcceptQueue&) = delete;

    /// Waits for at most `wait`; without it until the deadline.
    void add(ports::RequestId id, std::optional<Duration> wait, Deadline deadline,
             ports::AcceptHandler handler);
    /// Waits for the answer to the next probe that begins.
    void add_probe(ports::RequestId id, Deadline deadline, ports::AcceptHandler handler);
    /// The accept ends with `cancelled`. Other ids are ignored.
    void give_up(ports::RequestId id);

    [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
    [[nodiscard]] bool has_probes() const noexcept;

    /// The broker is asked whether it has messages.
    void begin_probe();
    /// The broker had none: accepts that were there when the probe began are answered.
    void end_probe();

    /// Answers the accept that has waited longest.
    void answer_first(ports::SessionLinkPtr link) { answer(waiting_.begin(), std::move(link)); }
    void fail_all(const Failure& why);

private:
    enum class Kind : std::uint8_t { waits, probes, probed };
    struct Waiting {
        Waiting(AcceptQueue& in, ports::RequestId number, Kind what, Deadline by,
                ports::AcceptHandler told)
            : queue{in}, id{number}, kind{what}, deadline{by}, handler{std::move(told)} {}
        void expire() { queue.on_expired(id); }

        AcceptQueue& queue;
        const ports::RequestId id;
        Kind kind;
        const Deadline deadline;
        ports::AcceptHandler handler;
        timing::Timer timer{timing::Timer::calling<&Waiting::expire>(this)};
    };
    using List = std::list<Waiting>;

    void arm(Waiting& waiting, Deadline until);
    [[nodiscard]] List::iterator find(ports::RequestId id);
    void answer(List::iterator waiting, core::Result<ports::SessionLinkPtr> result);
    void on_expired(ports::RequestId id);

    core::EventLoop& loop_;
    core::ReplyQueue& replies_;
    const Failure none_;
    Owner& owner_;
    List waiting_{};
};

} // namespace sessionq::groups
