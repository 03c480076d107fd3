// SPDX-License-Identifier: MIT
#include "dispatch/task_queue.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace sessionq;
using namespace sessionq::dispatch;

TEST_CASE(
    "task queue: returns tasks in the order of pushing, also when more are pushed in between") {
    TaskQueue queue;
    std::string order;
    const auto push = [&](char name) { queue.push([&order, name] { order += name; }, {}); };
    const auto run = [&] { queue.pop()->task(); };
    CHECK(queue.pop() == nullptr);
    CHECK_FALSE(queue.has_work());
    push('a');
    push('b');
    CHECK(queue.size() == 2);
    run();
    push('c');
    run();
    CHECK(queue.has_work());
    run();
    CHECK(order == "abc");
    CHECK(queue.size() == 0);
    CHECK(queue.pop() == nullptr);
}

TEST_CASE("task queue: R21: keeps each task's context") {
    TaskQueue queue;
    const OperationContext context{Deadline::at(TimePoint{std::chrono::hours{7}})};
    queue.push([] {}, context);
    queue.push([] {}, {});
    const auto first = queue.pop();
    const auto second = queue.pop();
    REQUIRE((first && second));
    CHECK(first->context.deadline() == context.deadline());
    CHECK(second->context.is_clean());
}

TEST_CASE("task queue: destroys tasks that have not run") {
    auto witness = std::make_shared<int>(0);
    {
        TaskQueue queue;
        queue.push([witness] {}, {});
        queue.clear();
        CHECK(witness.use_count() == 1);
        queue.push([witness] {}, {});
        CHECK(witness.use_count() == 2);
    }
    CHECK(witness.use_count() == 1);
}
