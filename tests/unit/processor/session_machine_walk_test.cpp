// A session machine beside a model of all that surrounds it: the link, the lane, the handlers. Every step checks what must hold.

#include <doctest/doctest.h>

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "processor/session_machine.hpp"

using namespace sessionq;
using processor::SessionActions;
using processor::SessionMachine;
using Phase = SessionMachine::Phase;

namespace {

class World {
public:
    World(SessionMachine::Traits traits, std::uint32_t calls)
        : machine{traits}, traits_{traits}, calls_{calls} {
        perform(machine.opened());
    }

    struct Event {
        const char* name;
        std::function<bool()> happen; ///< false: not possible now
    };

    /// What may happen by itself.
    const std::vector<Event>& events() const { return events_; }

    /// Lets happen whatever can, until nothing can; the number of events.
    int run_down() {
        int count = 0;
        bool any = true;
        while (any && count < 10'000) {
            any = false;
            for (const Event& event : events_) {
                if (event.name != std::string_view{"deliver"} &&
                    event.name != std::string_view{"idle"} && event.happen()) {
                    any = true;
                    ++count;
                }
            }
        }
        return count;
    }

    bool happen(std::string_view name) {
        for (const Event& event : events_) {
            if (event.name == name) {
                return event.happen();
            }
        }
        FAIL("no such event: ", std::string{name});
        return false;
    }

    void lose() {
        if (machine.phase() == Phase::finished) {
            return;
        }
        link_credit_ = 0;
        link_draining_ = false;
        settling_lost_ = settling_; // the pump disposes of what is unanswered
        perform(machine.lost(CloseReason::connection_lost));
        for (; settling_lost_ != 0; --settling_lost_) {
            --settling_;
            perform(machine.settled());
        }
    }

    void leave(CloseReason reason) { perform(machine.leave(reason)); }
    void dead_letter_rest() { perform(machine.dead_letter_rest()); }
    void drain_overdue() {
        if (machine.drain_outstanding()) {
            perform(machine.drain_overdue()); // the link's drain stays unanswered
        }
    }

    void check_end() {
        CHECK(finished_ == 1);
        CHECK(machine.phase() == Phase::finished);
        CHECK(machine.in_flight() == 0);
        CHECK(waiting_ + running_ + settling_ + failed_ == 0);
        CHECK(close_runs_ <= 1);
    }

    SessionMachine machine;

private:
    bool in_lane_may_start() const { return !paused_ && holds_ == 0 && running_ < calls_; }

    void grant() {
        if (!machine.may_grant_credit() || link_credit_ >= 4) {
            return;
        }
        REQUIRE_FALSE(
            link_draining_); // the port forbids credit while a drain is unanswered, overdue ones too
        REQUIRE_FALSE(closed_);
        REQUIRE_FALSE(machine.is_lost());
        machine.credit_added(4 - link_credit_);
        link_credit_ = 4;
    }

    void perform(const SessionActions& actions) {
        if (actions.pause_lane) {
            paused_ = true;
        }
        if (actions.start_drain) {
            REQUIRE_FALSE(link_draining_);
            REQUIRE_FALSE(closed_);
            REQUIRE_FALSE(machine.is_lost());
            machine.drain_asked();
            link_draining_ = true;
        }
        if (actions.release_waiting) {
            REQUIRE_FALSE(machine.is_lost());
            take_back_open();
            settling_ += std::exchange(waiting_, 0);
        }
        if (actions.discard_waiting) {
            take_back_open();
            for (unsigned n = std::exchange(waiting_, 0) + std::exchange(failed_, 0); n != 0; --n) {
                perform(machine.settled());
            }
        }
        if (actions.settle_failed) {
            settling_ += std::exchange(failed_, 0);
        }
        if (actions.release_lane) {
            REQUIRE(holds_ != 0);
            holds_ = 0;
        }
        if (actions.commit_idle) {
            const bool committed = still_idle_ && machine.in_flight() == 0;
            perform(machine.idle_committed(committed));
        }
        if (actions.grant_credit) {
            grant();
        }
        if (actions.run_open) {
            REQUIRE(open_ == Call::none);
            open_ = Call::waiting;
            ++holds_; // the lane goes on when the machine says so
        }
        if (actions.run_close) {
            REQUIRE(close_ == Call::none);
            REQUIRE(running_ + waiting_ + failed_ == 0);
            close_ = Call::running;
            ++close_runs_;
        }
        if (actions.close_link) {
            REQUIRE_FALSE(closed_);
            REQUIRE(running_ + waiting_ + failed_ == 0);
            closed_ = true;
            if (machine.is_lost()) {
                perform(machine.link_closed());
            }
        }
        if (actions.finished) {
            ++finished_;
            REQUIRE(finished_ == 1);
        }
    }

    void take_back_open() {
        if (open_ == Call::waiting) {
            open_ = Call::ended;
            perform(machine.open_skipped());
        }
    }

    bool deliver() {
        if (link_credit_ == 0 || closed_ || machine.is_lost()) {
            return false;
        }
        --link_credit_;
        still_idle_ = false;
        switch (machine.delivered()) {
        case SessionMachine::Arrival::enqueue:
            REQUIRE_FALSE(machine.phase() > Phase::leaving);
            ++waiting_;
            break;
        case SessionMachine::Arrival::release: REQUIRE(machine.is_leaving()); [[fallthrough]];
        case SessionMachine::Arrival::dead_letter: ++settling_; break;
        }
        return true;
    }

    bool start() {
        if (open_ == Call::waiting) {
            open_ = Call::running;
            return true;
        }
        if (waiting_ == 0 || !in_lane_may_start()) {
            return false;
        }
        REQUIRE(open_ != Call::running);
        REQUIRE((traits_.handles_all ||
                 !machine.is_leaving())); // R2, R13: nothing starts once the session is being left
        --waiting_;
        ++running_;
        return true;
    }

    bool finish_handler() {
        if (running_ == 0) {
            return false;
        }
        --running_;
        if (machine.is_lost() || traits_.handles_all) {
            perform(machine.settled());
        } else {
            ++settling_;
        }
        return true;
    }

    bool fail_handler() {
        if (running_ == 0 || machine.is_lost() || traits_.handles_all) {
            return false;
        }
        --running_;
        if (calls_ > 1) {
            ++settling_;
            return true;
        }
        ++holds_;
        ++failed_;
        perform(machine.rewind());
        return true;
    }

    bool answer_settlement() {
        if (settling_ == 0) {
            return false;
        }
        --settling_;
        perform(machine.settled());
        return true;
    }

    bool answer_drain() {
        if (!link_draining_ || closed_ || machine.is_lost() || !machine.drain_outstanding()) {
            return false;
        }
        link_draining_ = false;
        link_credit_ = 0;
        perform(machine.drained());
        return true;
    }

    bool end_open(bool succeeded) {
        if (open_ != Call::running) {
            return false;
        }
        open_ = Call::ended;
        perform(machine.open_finished(succeeded));
        return true;
    }

    bool end_close() {
        if (close_ != Call::running) {
            return false;
        }
        close_ = Call::ended;
        perform(machine.close_finished());
        return true;
    }

    bool answer_close() {
        if (!closed_ || machine.phase() != Phase::closing_link) {
            return false;
        }
        perform(machine.link_closed());
        return true;
    }

    bool idle_due() {
        if (machine.in_flight() != 0 || machine.phase() != Phase::working) {
            return false;
        }
        still_idle_ = true;
        perform(machine.idle_due());
        return true;
    }

    enum class Call { none, waiting, running, ended };

    SessionMachine::Traits traits_;
    std::uint32_t calls_;
    unsigned waiting_{0};
    unsigned running_{0};
    unsigned failed_{0};
    unsigned settling_{0};
    unsigned settling_lost_{0};
    unsigned holds_{0};
    unsigned link_credit_{0};
    unsigned close_runs_{0};
    unsigned finished_{0};
    bool paused_{false};
    bool link_draining_{false};
    bool closed_{false};
    bool still_idle_{false};
    Call open_{Call::none};
    Call close_{Call::none};

    const std::vector<Event> events_{
        {"deliver", [this] { return deliver(); }},
        {"start", [this] { return start(); }},
        {"finish", [this] { return finish_handler(); }},
        {"settled", [this] { return answer_settlement(); }},
        {"drained", [this] { return answer_drain(); }},
        {"opened", [this] { return end_open(true); }},
        {"closed", [this] { return end_close(); }},
        {"link closed", [this] { return answer_close(); }},
        {"idle", [this] { return idle_due(); }},
        {"fail", [this] { return fail_handler(); }},
        {"open failed", [this] { return end_open(false); }},
    };
};

const SessionMachine::Traits all_traits[] = {
    {},
    {.has_open_handler = true, .has_close_handler = true},
    {.has_close_handler = true, .roll_when_empty = true},
    {.handles_all = true},
    {.has_open_handler = true, .has_close_handler = true, .handles_all = true},
};

/// From opening to the close's answer, through idleness that a message ended and a failure.
const std::vector<const char*> script{
    "start", "opened", "deliver", "deliver", "start",   "finish",  "settled",
    "start", "fail",   "drained", "settled", "idle",    "deliver", "drained",
    "start", "finish", "settled", "idle",    "drained", "closed",  "link closed"};

} // namespace

TEST_CASE("session machine walk: what breaks in on any step of a session's life lets it end, once, "
          "with nothing in flight") {
    const std::pair<const char*, std::function<void(World&)>> intruders[] = {
        {"lost", [](World& world) { world.lose(); }},
        {"stopped", [](World& world) { world.leave(CloseReason::stopped); }},
        {"drain overdue", [](World& world) { world.drain_overdue(); }},
        {"dead-letter the rest", [](World& world) { world.dead_letter_rest(); }},
    };
    for (const SessionMachine::Traits traits : all_traits) {
        for (const auto& [name, intrude] : intruders) {
            for (std::size_t step = 0; step <= script.size(); ++step) {
                CAPTURE(name);
                CAPTURE(step);
                CAPTURE(traits.has_open_handler);
                CAPTURE(traits.handles_all);
                World world{traits, 1};
                for (std::size_t i = 0; i < step; ++i) {
                    world.happen(script[i]);
                }
                intrude(world);
                world.leave(CloseReason::stopped);
                world.run_down();
                world.check_end();
            }
        }
    }
}

TEST_CASE("session machine walk: any order of events keeps what must hold and ends") {
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        CAPTURE(seed);
        core::Random random{seed};
        World world{all_traits[random.below(std::size(all_traits))],
                    random.below(2) == 0 ? 1U : 3U};
        for (std::uint64_t steps = random.below(120); steps != 0; --steps) {
            switch (random.below(60)) {
            case 0: world.lose(); break;
            case 1: world.leave(CloseReason::max_hold); break;
            case 2: world.drain_overdue(); break;
            case 3: world.dead_letter_rest(); break;
            case 4: world.happen("open failed"); break;
            default:
                static_cast<void>(world.events()[random.below(world.events().size())].happen());
            }
        }
        world.leave(CloseReason::stopped);
        world.run_down();
        world.check_end();
    }
}
