// SPDX-License-Identifier: MIT
#include "timing/session_idle_timer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <vector>

#include "support/interleaving.hpp"

using namespace sessionq;
using namespace sessionq::test;
using namespace sessionq::timing;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint now{1h};

/// The timer beside a model of what it must do. A script is not interrupted between an access and
/// the next, so the model moves together with the access that decided; what the timer answers is
/// held against it.
template <template <typename> class Atomic>
class Watched {
public:
    explicit Watched(interleaving::Run& run) : run_{run} {}

    std::uint32_t start() {
        const auto arming = timer_.start(now);
        started_ = true;
        armed(arming.epoch);
        return arming.epoch;
    }

    bool begin() {
        const bool begun = timer_.begin();
        run_.expect(begun == !(fired_ || disposed_),
                    "begin answers false exactly when fired or disposed");
        ++in_flight_;
        return begun;
    }

    void end() {
        const auto arming = timer_.end(now);
        --in_flight_;
        run_.expect(arming.has_value() == (in_flight_ == 0 && started_ && !fired_ && !disposed_),
                    "the clock restarts exactly when the last one ends");
        if (arming) {
            armed(arming->epoch);
        }
    }

    void begin_and_end() {
        begin();
        end();
    }

    void fire(std::uint32_t epoch) {
        if (timer_.fire(epoch)) {
            run_.expect(!fired_, "fires at most once");
            run_.expect(in_flight_ == 0, "never fires while something is in flight");
            run_.expect(!disposed_, "never fires once disposed");
            run_.expect(epoch == latest(), "only the latest arming fires");
            fired_ = true;
        }
    }

    /// What a driver does: asks for the latest arming it knows of.
    void fire_latest() { fire(latest()); }

    void dispose() {
        timer_.dispose();
        disposed_ = true;
    }

    /// After all scripts have ended.
    void settle() {
        run_.expect(timer_.in_flight() == in_flight_ && in_flight_ == 0,
                    "all that began has ended");
        run_.expect(timer_.fired() == fired_, "fired as it answered");
        run_.expect(timer_.disposed() == disposed_, "disposed as it was told");
        const bool idle = !fired_ && !disposed_;
        std::size_t valid = 0;
        for (const std::uint32_t epoch : epochs_) {
            valid += timer_.is_idle(epoch) ? 1 : 0;
        }
        run_.expect(valid == (idle ? 1 : 0), "exactly one arming is outstanding");
        run_.expect(timer_.fire(latest()) == idle, "and it is the latest, which fires");
        run_.expect(!timer_.begin(), "nothing begins after that");
    }

private:
    void armed(std::uint32_t epoch) {
        run_.expect(std::ranges::find(epochs_, epoch) == epochs_.end(),
                    "no two armings share an epoch");
        epochs_.push_back(epoch);
    }
    [[nodiscard]] std::uint32_t latest() const { return epochs_.empty() ? 0 : epochs_.back(); }

    interleaving::Run& run_;
    BasicSessionIdleTimer<Atomic> timer_{10ms};
    std::vector<std::uint32_t> epochs_;
    std::uint32_t in_flight_{0};
    bool started_{false};
    bool fired_{false};
    bool disposed_{false};
};

template <template <typename> class Atomic = interleaving::Atomic>
using Script = std::function<void(Watched<Atomic>&)>;

template <template <typename> class Atomic = interleaving::Atomic>
interleaving::Outcome explore(
    const std::vector<Script<Atomic>>& scripts,
    const Script<Atomic>& before = [](auto& timer) { timer.start(); }) {
    return interleaving::explore([&](interleaving::Run& run) {
        Watched<Atomic> timer{run};
        before(timer);
        for (const auto& script : scripts) {
            run.thread([&] { script(timer); });
        }
        if (run.execute()) {
            timer.settle();
        }
    });
}

/// A deliberate defect: an exchange that looks and writes in two steps.
template <typename T>
struct TornAtomic : interleaving::Atomic<T> {
    using interleaving::Atomic<T>::Atomic;

    bool compare_exchange_strong(T& expected, T desired, std::memory_order, std::memory_order) {
        const T found = this->load();
        if (found != expected) {
            expected = found;
            return false;
        }
        this->store(desired);
        return true;
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) {
        return compare_exchange_strong(expected, desired, success, failure);
    }
};

/// A deliberate defect: fires whatever happened since the arming.
template <typename T>
struct CarelessAtomic : interleaving::Atomic<T> {
    using interleaving::Atomic<T>::Atomic;

    bool compare_exchange_strong(T&, T desired, std::memory_order, std::memory_order) {
        this->store(desired);
        return true;
    }
};

} // namespace

TEST_CASE("session idle timer: R1, R2 hold in every interleaving of small cases") {
    using Timer = Watched<interleaving::Atomic>;
    const Script<> handle = [](Timer& t) { t.begin_and_end(); };
    const Script<> handle_twice = [](Timer& t) {
        t.begin_and_end();
        t.begin_and_end();
    };
    const Script<> handle_overlapping = [](Timer& t) {
        t.begin();
        t.begin();
        t.end();
        t.end();
    };
    const Script<> fire = [](Timer& t) { t.fire_latest(); };
    const Script<> fire_twice = [](Timer& t) {
        t.fire_latest();
        t.fire_latest();
    };
    const Script<> fire_stale_and_latest = [](Timer& t) {
        constexpr std::uint32_t first = 1;
        t.fire(first);
        t.fire_latest();
        t.fire(first);
    };
    const Script<> dispose = [](Timer& t) { t.dispose(); };
    const Script<> end = [](Timer& t) { t.end(); };
    const Script<> start = [](Timer& t) { t.start(); };
    const Script<> start_and_begin = [](Timer& t) {
        t.start();
        t.begin();
    };
    const Script<> nothing = [](Timer&) {};

    struct Case {
        const char* name;
        std::vector<Script<>> scripts;
        Script<> before = [](Timer& t) { t.start(); };
    };
    const Case cases[] = {
        {"begin+end | fire", {handle, fire}},
        {"2(begin+end) | fire fire", {handle_twice, fire_twice}},
        {"begin+end | begin+end | fire fire", {handle, handle, fire_twice}},
        {"begin+end | begin+end | stale and latest fire", {handle, handle, fire_stale_and_latest}},
        {"begin begin end end | begin+end | fire", {handle_overlapping, handle, fire}},
        {"2(begin+end) | fire fire | dispose", {handle_twice, fire_twice, dispose}},
        {"begin+end | fire | fire", {handle, fire, fire_twice}},
        {"begin+end | begin+end | dispose", {handle, handle, dispose}},
        {"end | begin+end | begin+end", {end, handle, handle}, start_and_begin},
        {"end | begin+end | fire fire", {end, handle, fire_twice}, start_and_begin},
        {"start | begin+end | fire fire", {start, handle, fire_twice}, nothing},
    };
    std::uint64_t total = 0;
    for (const auto& [name, scripts, before] : cases) {
        CAPTURE(name);
        const auto outcome = explore(scripts, before);
        CHECK_MESSAGE(outcome.passed(), outcome.to_string());
        CHECK(outcome.interleavings > 1);
        std::cout << "session idle timer: " << name << ": " << outcome.interleavings
                  << " interleavings\n";
        total += outcome.interleavings;
    }
    std::cout << "session idle timer: " << total << " interleavings in all\n";
}

TEST_CASE("session idle timer: the checker catches a timer whose updates are not atomic") {
    using Timer = Watched<TornAtomic>;
    const Script<TornAtomic> handle = [](Timer& t) { t.begin_and_end(); };
    const Script<TornAtomic> fire = [](Timer& t) { t.fire_latest(); };
    CHECK_FALSE(explore<TornAtomic>({handle, fire}).violation.empty());
    CHECK_FALSE(explore<TornAtomic>({handle, handle}).violation.empty());
    CHECK_FALSE(explore<TornAtomic>({fire, fire}).violation.empty());
}

TEST_CASE("session idle timer: the checker catches a timer that fires without looking") {
    using Timer = Watched<CarelessAtomic>;
    const auto outcome = explore<CarelessAtomic>(
        {[](Timer& t) { t.begin_and_end(); }, [](Timer& t) { t.fire_latest(); }});
    CHECK_FALSE(outcome.violation.empty());
}
