// SPDX-License-Identifier: MIT
// A session machine in any order of inputs that a link, a lane and handlers can bring.

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "unit/processor/support/session_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::MessageMachine;
using detail::processor::SessionMachine;
using test::SessionBench;
using Phase = SessionMachine::Phase;

namespace {

class Walk {
public:
    Walk(SessionProcessorOptions options, bool has_open, bool has_close)
        : bench_{std::move(options), has_open, has_close} {
        perform(bench_.begin());
        opening_ = bench_.opening;
    }
    /// Credit went out with the accept, and an earlier lock may still have handlers.
    Walk(SessionProcessorOptions options, ports::FirstCredit first, Duration round_trip, bool waits)
        : bench_{std::move(options)}, waits_{waits} {
        bench_.drain_time.answered_in(round_trip);
        bench_.credit = first.count;
        bench_.draining = draining_ = first.drain;
        perform(bench_.feed(&SessionMachine::given, first));
        perform(waits ? bench_.feed(&SessionMachine::hold_back) : bench_.begin());
    }

    static constexpr std::uint64_t events = 11;

    /// False: not possible now.
    bool happen(std::uint64_t event) {
        SessionMachine& machine = bench_.machine;
        const bool link_ends = !machine.usable() || bench_.finished;
        switch (event) {
        case 0: return !link_ends && bench_.credit != 0 && !bench_.link_closes && arrive();
        case 1: return start();
        case 2: return end_handler(true);
        case 3: return end_handler(false);
        case 4: return !bench_.settling.empty() && perform(bench_.answer(*bench_.settling.front()));
        case 5:
            if (!bench_.draining || link_ends) {
                return false;
            }
            bench_.draining = draining_ = false;
            bench_.credit = 0;
            return perform(bench_.drained());
        case 6: return end_open();
        case 7:
            return std::exchange(bench_.closing, false) &&
                   perform(bench_.feed(&SessionMachine::close_ended));
        case 8:
            return std::exchange(bench_.link_closes, false) &&
                   perform(bench_.feed(&SessionMachine::link_closed));
        case 9: return perform(bench_.pass(1s));
        case 10:
            return std::exchange(waits_, false) && perform(bench_.feed(&SessionMachine::let_in));
        default: return false;
        }
    }
    void lose() {
        bench_.credit = 0;
        perform(bench_.lose(Errc::connection_lost));
    }
    void leave() { perform(bench_.leave(CloseReason::stopped)); }

    /// Everything that can happen by itself, until nothing can.
    void run_down() {
        for (bool any = true; std::exchange(any, false);) {
            for (const std::uint64_t event : {1, 2, 4, 5, 6, 7, 8, 10}) {
                any = happen(event) || any;
            }
        }
    }

    void check_end() {
        CHECK(bench_.finished);
        CHECK(bench_.machine.phase() == Phase::finished);
        CHECK(bench_.machine.in_flight() == 0);
        CHECK(bench_.machine.next() == TimePoint::max());
        CHECK(bench_.budget.buffered_bytes() == 0);
        CHECK(bench_.budget.expected() == 0);
        CHECK(running_.empty());
        CHECK(bench_.lane.empty());
    }

private:
    bool perform(const std::string& actions) {
        for (std::size_t at = 0; at < actions.size();) {
            const std::size_t end = std::min(actions.find(' ', at), actions.size());
            const std::string word = actions.substr(at, end - at);
            paused_ = word == "pause" || (paused_ && word != "resume");
            if (word == "release_lane") {
                held_ = false;
            }
            REQUIRE((word != "run_close" || running_.empty()));
            REQUIRE((word != "credit" || !draining_));
            draining_ = word == "drain" || (draining_ && word != "drop_link");
            at = end + 1;
        }
        return true;
    }
    bool arrive() {
        --bench_.credit;
        return perform(bench_.arrive());
    }
    bool start() {
        if (opening_ && bench_.opening) {
            bench_.opening = false; // on_session_open starts
            return true;
        }
        const bool removes = bench_.options.receive_and_delete;
        const bool busy = opening_ || waits_ || paused_ || held_ || !running_.empty();
        if (bench_.lane.empty() || busy) {
            return false;
        }
        REQUIRE((removes || !bench_.machine.is_leaving())); // R2, R13
        running_.push_back(&bench_.start());
        return true;
    }
    bool end_handler(bool succeeds) {
        if (running_.empty()) {
            return false;
        }
        MessageMachine& message = *running_.back();
        running_.pop_back();
        held_ = held_ || !succeeds;
        return perform(succeeds ? bench_.succeed(message) : bench_.fail(message));
    }
    bool end_open() {
        if (bench_.opening || !std::exchange(opening_, false)) {
            return false;
        }
        if (skipped()) {
            return false;
        }
        return perform(bench_.open_ended(true));
    }
    /// The lane gave on_session_open back before it started.
    bool skipped() const { return bench_.machine.phase() > Phase::leaving; }

    SessionBench bench_;
    std::vector<MessageMachine*> running_{};
    bool opening_{false};
    bool waits_{false}; ///< for the handlers of an earlier lock
    bool draining_{false};
    bool paused_{false};
    bool held_{false};
};

const SessionProcessorOptions all_options[] = {
    {.session_idle_timeout = 3s},
    {.session_idle_timeout = Duration::zero()},
    {.session_idle_timeout = 3s,
     .failure_policy = FailurePolicy::abandon().after_attempts(2, {.min = 1s, .max = 1s})},
    {.session_idle_timeout = 3s, .failure_policy = FailurePolicy::park_session(5s)},
    {.session_idle_timeout = 3s, .failure_policy = FailurePolicy::dead_letter_session()},
    {.session_idle_timeout = 3s, .max_hold = 20s, .max_messages_per_turn = 3},
    {.session_idle_timeout = 3s, .receive_and_delete = true},
};

} // namespace

TEST_CASE("session machine walk: any order of inputs keeps what must hold and ends") {
    for (std::uint64_t seed = 0; seed < 8000; ++seed) {
        CAPTURE(seed);
        core::Random random{seed};
        const SessionProcessorOptions& options = all_options[random.below(std::size(all_options))];
        const bool has_open = random.below(2) == 0;
        const bool has_close = random.below(2) == 0;
        const bool given = random.below(2) == 0 && !options.receive_and_delete;
        Walk walk = given ? Walk{options,
                                 {.count = static_cast<std::uint32_t>(1 + random.below(4)),
                                  .drain = options.session_idle_timeout == Duration::zero()},
                                 random.below(2) * 500ms,
                                 random.below(2) == 0}
                          : Walk{options, has_open, has_close};
        for (std::uint64_t steps = random.below(120); steps != 0; --steps) {
            switch (random.below(80)) {
            case 0: walk.lose(); break;
            case 1: walk.leave(); break;
            default: static_cast<void>(walk.happen(random.below(Walk::events)));
            }
        }
        walk.leave();
        walk.run_down();
        walk.check_end();
    }
}
