// SPDX-License-Identifier: MIT
#include "dispatch/work_count.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "dispatch/thread_sync.hpp"
#include "support/interleaving.hpp"

using namespace sessionq::dispatch;
using namespace sessionq::test;

namespace {

using WorkCount = BasicWorkCount<ThreadSync>;

struct WorkModelSync {
    template <typename T>
    using Atomic = interleaving::Atomic<T>;
};

/// An executor with works, and things to do that are published. Scripts call the members.
class WorkScene {
public:
    explicit WorkScene(std::size_t most) : most_{most} {}

    // Before the scripts
    void give(std::size_t works) { wake(works); }
    void begin() {
        --kept_;
        count_.begin();
    }

    // Scripts
    void publish() {
        things_.fetch_add(1);
        wake(things_.load());
    }
    /// A work that has found nothing more.
    void end(bool looks_again = true) {
        count_.end();
        if (looks_again) {
            look();
        }
    }
    /// A work from its begin to its end.
    void run() {
        begin();
        static_cast<void>(things_.exchange(0));
        end();
    }
    /// The executor drops a work, rests, and is tried again.
    void drop() {
        --kept_;
        count_.drop();
        count_.rest();
        count_.go_on();
        look();
    }

    /// After all scripts: the executor runs its works, and then nothing may be left.
    void settle(interleaving::Run& run_of_all) {
        while (kept_ > 0) {
            run();
        }
        run_of_all.expect(things_.load() == 0, "it is forgotten: it waits and no work comes");
        run_of_all.expect(count_.waiting() == 0 && count_.running() == 0, "the counts are off");
    }

private:
    void wake(std::size_t work) {
        while (count_.add(work, most_)) {
            ++kept_;
        }
    }
    void look() {
        if (things_.load() > 0) {
            wake(1);
        }
    }

    const std::size_t most_;
    BasicWorkCount<WorkModelSync> count_{};
    interleaving::Atomic<std::size_t> things_{0};
    int kept_{0};
};

struct WorkCase {
    const char* name;
    std::size_t most;
    std::function<void(WorkScene&)> before;
    std::vector<std::function<void(WorkScene&)>> scripts;

    [[nodiscard]] interleaving::Outcome explore() const {
        return interleaving::explore([this](interleaving::Run& run) {
            WorkScene scene{most};
            before(scene);
            for (const auto& script : scripts) {
                run.thread([&] { script(scene); });
            }
            if (run.execute()) {
                scene.settle(run);
            }
        });
    }
};

void publish(WorkScene& scene) { scene.publish(); }
void end_work(WorkScene& scene) { scene.end(); }

void one_runs(WorkScene& scene) {
    scene.give(1);
    scene.begin();
}
void two_run(WorkScene& scene) {
    scene.give(2);
    scene.begin();
    scene.begin();
}

} // namespace

TEST_CASE("work count: works that wait count for the work that is there") {
    WorkCount count;
    CHECK_FALSE(count.add(0, 8));
    CHECK(count.add(2, 8));
    CHECK(count.add(2, 8));
    CHECK_FALSE(count.add(2, 8));
    CHECK(count.add(3, 8));
    CHECK(count.waiting() == 3);
    count.begin();
    CHECK(count.waiting() == 2);
    CHECK(count.running() == 1);
    CHECK_FALSE(count.add(2, 8));
    CHECK(count.add(3, 8)); // the one that runs counts for none
}

TEST_CASE("work count: no more are out than there may be, waiting or running") {
    WorkCount count;
    CHECK(count.add(9, 2));
    count.begin();
    CHECK(count.add(9, 2));
    CHECK_FALSE(count.add(9, 2));
    count.end();
    CHECK(count.add(9, 2));
    CHECK_FALSE(count.add(9, 1)); // the bound has fallen
    count.drop();
    count.drop();
    CHECK(count.waiting() == 0);
    CHECK(count.running() == 0);
}

TEST_CASE("work count: none is added while the executor rests, and the others go on") {
    WorkCount count;
    CHECK(count.add(1, 8));
    count.rest();
    count.rest();
    CHECK_FALSE(count.add(9, 8));
    CHECK(count.waiting() == 1);
    count.begin();
    count.end();
    CHECK_FALSE(count.add(1, 8));
    count.go_on();
    CHECK(count.add(1, 8));
}

TEST_CASE("work count: nothing that is published is forgotten, in every interleaving of small "
          "cases") {
    const WorkCase cases[] = {
        {"the only work ends | publish", 1, one_runs, {end_work, publish}},
        {"one of several ends | publish", 4, one_runs, {end_work, publish}},
        {"two end | publish", 2, two_run, {end_work, end_work, publish}},
        {"a work begins | publish",
         1,
         [](WorkScene& scene) { scene.give(1); },
         {[](WorkScene& scene) { scene.run(); }, publish}},
        {"the only work is dropped | publish",
         1,
         [](WorkScene& scene) { scene.give(1); },
         {[](WorkScene& scene) { scene.drop(); }, publish}},
        {"publish | publish", 2, [](WorkScene&) {}, {publish, publish}},
    };
    for (const WorkCase& each : cases) {
        CAPTURE(each.name);
        const interleaving::Outcome outcome = each.explore();
        CHECK_MESSAGE(outcome.passed(), outcome.to_string());
    }
}

TEST_CASE("work count: the exploration catches a work that ends without another look") {
    const WorkCase hasty{"", 1, one_runs, {[](WorkScene& scene) { scene.end(false); }, publish}};
    CHECK(hasty.explore().violation == "it is forgotten: it waits and no work comes");
}
