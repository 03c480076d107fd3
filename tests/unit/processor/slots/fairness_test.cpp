// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <set>
#include <string>

#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace sessionq::test;
using namespace std::chrono_literals;

namespace {

/// A broker that grants what has been ready for longest. Each session has one message, and busy
/// ones get the next when it is handled.
class FairBench : public ProcessorBench {
public:
    explicit FairBench(bool tells, SessionProcessorOptions options = {})
        : ProcessorBench{with_slots(std::move(options)), {"orders"}, true} {
        holds = true;
        if (tells) {
            endpoint.ready = [this] {
                return ports::ReadySessions{.count = ready.size(),
                                            .since = ready.empty() ? TimePoint::max()
                                                                   : ready.front().since};
            };
        }
    }
    ~FairBench() { endpoint.ready = nullptr; }

    void add(const std::string& id, bool is_busy) {
        ready.push_back({id, loop.now()});
        if (is_busy) {
            busy.insert(id);
        }
    }
    void pass(Duration length) {
        for (const TimePoint end = loop.now() + length; loop.now() < end;) {
            step();
            advance(2ms);
        }
    }

    struct Ready {
        std::string id;
        TimePoint since;
    };
    std::deque<Ready> ready{};
    std::set<std::string> busy{};
    std::map<std::string, Duration> waited{}; ///< for longest
    std::size_t grants{0};

private:
    static SessionProcessorOptions with_slots(SessionProcessorOptions options) {
        options.max_concurrent_sessions = 16;
        return options;
    }

    void step() {
        finish_due();
        for (auto& [id, link] : held_) { // busy ones have the next message
            if (busy.contains(id) && handling_[id] == 0 && link->credit != 0 && !link->draining) {
                link->deliver(id);
                handling_[id] = 1;
            }
        }
        run();
        std::erase_if(held_, [this](const auto& each) {
            const bool is_over = each.second->take_log().find("close") != std::string::npos;
            if (is_over && busy.contains(each.first)) {
                ready.push_back({each.first, loop.now()});
            }
            if (is_over) { // the bench would look at it in each round
                std::erase(links, each.second);
            }
            return is_over;
        });
        while (!endpoint.accepts.empty() && !ready.empty()) {
            const Ready next = ready.front();
            ready.pop_front();
            Duration& longest = waited[next.id];
            longest = std::max(longest, loop.now() - next.since);
            ++grants;
            held_.emplace_back(next.id, open(next.id));
            if (!busy.contains(next.id)) {
                held_.back().second->deliver(next.id);
            }
            run();
        }
    }
    void finish_due() {
        while (!started.empty()) {
            handling_[started.front().text] = 0;
            finish();
        }
    }

    std::vector<std::pair<std::string, ScriptedLinkPtr>> held_{};
    std::map<std::string, int> handling_{};
};

} // namespace

TEST_CASE("fairness: R14: by default busy sessions do not keep ready ones waiting") {
    FairBench bench{true};
    for (int i = 0; i < 40; ++i) {
        bench.add("busy" + std::to_string(i), true);
    }
    bench.start();
    bench.pass(1s);
    for (int i = 0; i < 1000; ++i) {
        bench.add("ready" + std::to_string(i), false);
    }
    bench.pass(500ms);
    const auto described = bench.processor->describe_here();
    CHECK(described.session_hold > Duration::zero());
    CHECK(described.session_hold < 100ms);
    CHECK(described.ready_bound == 5s);
    bench.pass(15s);
    CHECK(bench.waited.size() == 1040);
    for (const auto& [id, waited] : bench.waited) {
        CAPTURE(id);
        CHECK(waited <= described.ready_bound * 2);
    }
}

TEST_CASE("fairness: R14: where the broker does not tell, busy sessions take turns all the same") {
    FairBench bench{false};
    for (int i = 0; i < 40; ++i) {
        bench.add("busy" + std::to_string(i), true);
    }
    bench.start();
    bench.pass(60s);
    CHECK(bench.waited.size() == 40);
    for (const auto& [id, waited] : bench.waited) {
        CAPTURE(id);
        CHECK(waited <= 20s);
    }
}

TEST_CASE("fairness: with a slot for each busy session none is left but to see that none waits") {
    SUBCASE("the broker tells") {
        FairBench bench{true};
        for (int i = 0; i < 16; ++i) {
            bench.add("busy" + std::to_string(i), true);
        }
        bench.start();
        bench.pass(60s);
        CHECK(bench.grants == 16);
        CHECK(bench.processor->describe_here().session_hold == Duration::zero());
    }
    SUBCASE("it does not") {
        FairBench bench{false};
        for (int i = 0; i < 16; ++i) {
            bench.add("busy" + std::to_string(i), true);
        }
        bench.start();
        bench.pass(75s);
        CHECK(bench.grants <= 16 + 5);
    }
}

TEST_CASE("fairness: max_hold zero lets sessions keep their slots, and health tells who waits") {
    FairBench bench{true, {.max_hold = Duration::zero()}};
    for (int i = 0; i < 17; ++i) {
        bench.add("busy" + std::to_string(i), true);
    }
    bench.start();
    bench.pass(29s);
    CHECK(bench.processor->describe_here().health.state == Health::State::healthy);
    bench.pass(2s);
    const Health health = bench.processor->describe_here().health;
    REQUIRE(health.reasons.size() == 1);
    CHECK(health.reasons.front().cause == HealthCause::sessions_waiting);
    CHECK(health.reasons.front().count == 1);
    CHECK(bench.grants == 16);
}
