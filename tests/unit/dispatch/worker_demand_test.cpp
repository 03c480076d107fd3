// SPDX-License-Identifier: MIT
#include "dispatch/worker_demand.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace sessionq::dispatch;
using namespace std::chrono_literals;

namespace {

/// Two processors, and looks at a pool whose work waits.
struct Looks {
    /// `used`: processor time within 2 ms.
    unsigned look(Duration used, unsigned workers, std::size_t waiting, unsigned most = 64) {
        now += 2ms;
        total += used;
        return demand.more(
            {.now = now, .processor_time = total, .workers = workers, .waiting = waiting}, most);
    }

    TimePoint now{1h};
    Duration total{7s};
    WorkerDemand demand{2};
};

} // namespace

TEST_CASE("worker demand: workers that only wait are doubled, up to the work that waits") {
    Looks looks;
    looks.demand.begin(looks.now, looks.total);
    CHECK(looks.look(0ms, 2, 100) == 2);
    CHECK(looks.look(0ms, 4, 100) == 4);
    CHECK(looks.look(0ms, 8, 3) == 3);
    CHECK(looks.look(0ms, 11, 1) == 1);
}

TEST_CASE("worker demand: no more than the most, and none for nothing") {
    Looks looks;
    looks.demand.begin(looks.now, looks.total);
    CHECK(looks.look(0ms, 48, 100) == 16);
    CHECK(looks.look(0ms, 64, 100) == 0);
    CHECK(looks.look(0ms, 8, 100, 4) == 0); // the most was lowered
    CHECK(looks.look(0ms, 8, 0) == 0);
}

TEST_CASE("worker demand: busy processors need no more workers") {
    Looks looks;
    looks.demand.begin(looks.now, looks.total);
    CHECK(looks.look(4ms, 2, 100) == 0);
    CHECK(looks.look(3ms, 2, 100) == 0);
    CHECK(looks.look(2900us, 2, 100) == 2);
    CHECK(looks.look(4ms, 4, 100) == 0); // only the time since the last look counts
}
