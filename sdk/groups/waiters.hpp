#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <optional>

#include "core/event_loop.hpp"
#include "core/result.hpp"
#include "ports/endpoint.hpp"
#include "timing/timer.hpp"

namespace sessionq::groups {

class GroupSession;

/// Those who wait for a group of a receiver, in order. Each is answered once, by a later turn of
/// the loop, unless it is taken off before (R15). Bound to the loop.
class Waiters {
public:
    using Answer = std::function<void(core::Result<std::shared_ptr<GroupSession>>)>;

    /// `none` is the answer when there is no group to give; `expired` is told when a wait is over.
    Waiters(core::EventLoop& loop, Failure none, std::function<void()> expired);
    ~Waiters() { clear(); }
    Waiters(const Waiters&) = delete;
    Waiters& operator=(const Waiters&) = delete;

    /// Waits so long at most; without an end: until it is answered.
    void add(ports::RequestId id, std::optional<Duration> wait, Answer answer);
    /// Waits for the answer to the next probe that begins.
    void add_probe(ports::RequestId id, Answer answer);
    /// False: nobody of that name waits.
    bool cancel(ports::RequestId id);
    /// Nobody is told any more.
    void clear();

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    [[nodiscard]] bool has_probes() const noexcept {
        return std::any_of(all_.begin(), all_.end(),
                           [](const Waiter& each) { return each.probes; });
    }
    /// The broker is asked whether it has something...
    void begin_probe();
    /// ... and has said that it has nothing: who waited for that is answered.
    void end_probe();

    /// Answers who has waited longest; there is one.
    void answer_first(core::Result<std::shared_ptr<GroupSession>> result) {
        answer(all_.begin(), std::move(result));
    }
    void answer_all(const Failure& why);

private:
    struct Waiter {
        Waiter(Waiters& in, ports::RequestId name, bool is_probe, Answer told)
            : all{&in}, id{name}, probes{is_probe}, answer{std::move(told)} {}
        void on_time() { all->on_time(*this); }

        Waiters* all;
        ports::RequestId id;
        bool probes;
        bool is_asked_for{false}; ///< a probe that has begun
        Answer answer;
        timing::Timer timer{timing::Timer::calling<&Waiter::on_time>(this)};
    };

    void answer(std::list<Waiter>::iterator waiter,
                core::Result<std::shared_ptr<GroupSession>> result);
    void on_time(const Waiter& waiter);

    core::EventLoop& loop_;
    const Failure none_;
    const std::function<void()> expired_;
    std::list<Waiter> all_{};
};

} // namespace sessionq::groups
