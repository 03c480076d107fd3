// SPDX-License-Identifier: MIT
#include "timing/session_idle_timer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

using namespace sessionq;
using namespace sessionq::timing;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint accepted{1h};

SessionIdleTimer started(Duration timeout = 5s) {
    SessionIdleTimer timer{timeout};
    timer.start(accepted);
    return timer;
}

} // namespace

TEST_CASE("session idle timer: R1: the clock starts at the accept") {
    SessionIdleTimer timer{5s};
    CHECK(timer.due_at() == TimePoint::max());
    CHECK_FALSE(timer.fire());
    timer.start(accepted);
    CHECK(timer.runs());
    CHECK(timer.due_at() == accepted + 5s);
    CHECK_FALSE(timer.fire()); // not before it has run out
    timer.run_out();
    CHECK(timer.due_at() == TimePoint::max());
    CHECK(timer.fire());
    CHECK_FALSE(timer.fire());
}

TEST_CASE("session idle timer: R1: it stands still while something is in flight and restarts when "
          "the last one ends") {
    SessionIdleTimer timer = started();
    timer.begin();
    timer.begin();
    CHECK(timer.in_flight() == 2);
    CHECK(timer.due_at() == TimePoint::max());
    timer.end(accepted + 60s);
    CHECK(timer.due_at() == TimePoint::max());
    timer.end(accepted + 90s);
    CHECK(timer.in_flight() == 0);
    CHECK(timer.due_at() == accepted + 95s);
}

TEST_CASE("session idle timer: R2: what arrives after it has run out keeps it from firing, even if "
          "it has ended") {
    SessionIdleTimer timer = started();
    timer.run_out();
    timer.begin();
    CHECK_FALSE(timer.fire());
    timer.end(accepted + 6s);
    CHECK_FALSE(timer.fire());
    CHECK(timer.due_at() == accepted + 11s);
    timer.run_out();
    CHECK(timer.fire());
}

TEST_CASE("session idle timer: what arrives before the accept keeps the clock from running") {
    SessionIdleTimer timer{5s};
    timer.begin();
    timer.start(accepted);
    CHECK(timer.due_at() == TimePoint::max());
    timer.end(accepted + 1s);
    CHECK(timer.due_at() == accepted + 6s);

    SessionIdleTimer late{5s};
    late.begin();
    late.end(accepted); // no session yet, so no clock
    CHECK_FALSE(late.runs());
    late.start(accepted + 1s);
    CHECK(late.due_at() == accepted + 6s);
}

TEST_CASE("session idle timer: a new timeout counts from when the session became idle") {
    SessionIdleTimer timer = started();
    timer.set_timeout(2s);
    CHECK(timer.due_at() == accepted + 2s);
    timer.begin();
    timer.set_timeout(3s);
    timer.end(accepted + 10s);
    CHECK(timer.due_at() == accepted + 13s);
    timer.run_out();
    timer.set_timeout(1h);
    CHECK(timer.due_at() == TimePoint::max()); // it has run out
    CHECK(timer.fire());
}

TEST_CASE("session idle timer: zero is due at once, the longest timeout never") {
    CHECK(started(Duration::zero()).due_at() == TimePoint{});
    CHECK(started(Duration::max()).due_at() == TimePoint::max());
    CHECK(started(Duration::max() - 1s).due_at() == TimePoint::max());
    SessionIdleTimer rest = started();
    rest.roll_at_once();
    CHECK(rest.due_at() == TimePoint{});
    rest.set_timeout(2s);
    CHECK(rest.due_at() == accepted + 2s);
}

namespace {

enum class Input { begin, end, accept, run_out, fire, dispose };
constexpr std::array inputs{Input::begin,   Input::end,  Input::accept,
                            Input::run_out, Input::fire, Input::dispose};

/// What has happened, one input a second. It answers from the whole history, so it has no state of
/// its own to get wrong.
class History {
public:
    [[nodiscard]] TimePoint now() const { return accepted + inputs_.size() * 1s; }
    [[nodiscard]] bool may_come(Input input) const {
        return input != Input::end || in_flight() > 0;
    }
    void add(Input input, bool has_fired) {
        inputs_.push_back(input);
        is_over_ = is_over_ || has_fired || input == Input::dispose;
    }
    void remove(bool was_over) {
        inputs_.pop_back();
        is_over_ = was_over;
    }
    [[nodiscard]] bool is_over() const { return is_over_; }
    [[nodiscard]] std::size_t in_flight() const {
        return static_cast<std::size_t>(std::ranges::count(inputs_, Input::begin) -
                                        std::ranges::count(inputs_, Input::end));
    }
    /// Since when the session has been idle; max: it is not.
    [[nodiscard]] TimePoint idle_since() const {
        const auto accept = std::ranges::find(inputs_, Input::accept); // the first one counts
        const std::size_t began =
            accept == inputs_.end() ? none : static_cast<std::size_t>(accept - inputs_.begin());
        if (is_over_ || began == none || in_flight() > 0) {
            return TimePoint::max();
        }
        const std::size_t ended = find(Input::end);
        return accepted + (ended == none ? began : std::max(began, ended)) * 1s;
    }
    /// Whether it has run out since the session became idle.
    [[nodiscard]] bool has_run_out() const {
        const std::size_t out = find(Input::run_out);
        return idle_since() != TimePoint::max() && out != none &&
               accepted + out * 1s > idle_since();
    }

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    /// The last one.
    [[nodiscard]] std::size_t find(Input input) const {
        const auto found = std::find(inputs_.rbegin(), inputs_.rend(), input);
        return found == inputs_.rend() ? none
                                       : static_cast<std::size_t>(inputs_.rend() - found) - 1;
    }

    std::vector<Input> inputs_{};
    bool is_over_{false};
};

/// Gives the timer every order of inputs up to a length. Returns the number of wrong answers.
int try_all(const SessionIdleTimer& timer, History& history, int length) {
    int wrong = 0;
    const bool waits = history.idle_since() != TimePoint::max() && !history.has_run_out();
    wrong += timer.runs() != waits ? 1 : 0;
    wrong += timer.due_at() != (waits ? history.idle_since() + 5s : TimePoint::max()) ? 1 : 0;
    wrong += timer.in_flight() != history.in_flight() ? 1 : 0;
    for (const Input input : inputs) {
        if (length == 0 || !history.may_come(input)) {
            continue;
        }
        SessionIdleTimer next = timer;
        bool has_fired = false;
        switch (input) {
        case Input::begin: next.begin(); break;
        case Input::end: next.end(history.now()); break;
        case Input::accept: next.start(history.now()); break;
        case Input::run_out: next.run_out(); break;
        case Input::dispose: next.dispose(); break;
        case Input::fire:
            has_fired = next.fire();
            wrong += has_fired != history.has_run_out() ? 1 : 0;
            break;
        }
        const bool was_over = history.is_over();
        history.add(input, has_fired);
        wrong += try_all(next, history, length - 1);
        history.remove(was_over);
    }
    return wrong;
}

} // namespace

TEST_CASE("session idle timer: R1, R2: every order of inputs") {
    History history;
    CHECK(try_all(SessionIdleTimer{5s}, history, 8) == 0);
}
