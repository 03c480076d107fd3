// SPDX-License-Identifier: MIT
#include "core/reply_queue.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "support/manual_loop.hpp"

using namespace sessionq;

namespace {

struct Bench {
    void push(char name) {
        queue->push([this, name] { log += name; });
    }

    test::ManualLoop loop{};
    std::string log{};
    std::optional<core::ReplyQueue> queue{std::in_place, loop};
};

} // namespace

TEST_CASE("reply queue: replies run by a later turn, in order, many in one turn") {
    Bench bench;
    bench.push('a');
    bench.push('b');
    CHECK(bench.log.empty());
    CHECK(bench.loop.run_until_idle() == 1);
    CHECK(bench.log == "ab");
}

TEST_CASE("reply queue: a reply that is pushed from within a reply runs in the next turn") {
    Bench bench;
    bench.queue->push([&] { bench.push('b'); });
    bench.push('a');
    CHECK(bench.loop.turn());
    CHECK(bench.log == "a");
    CHECK(bench.loop.turn());
    CHECK(bench.log == "ab");
}

TEST_CASE("reply queue: flush runs what is left at once, also from within a reply") {
    Bench bench;
    bench.queue->push([&] {
        bench.push('b');
        bench.queue->flush();
        bench.log += '!';
    });
    bench.push('a');
    bench.loop.run_until_idle();
    CHECK(bench.log == "ab!");
    bench.push('c');
    bench.queue->flush();
    CHECK(bench.log == "ab!c");
    bench.loop.run_until_idle();
    CHECK(bench.log == "ab!c");
}

TEST_CASE("reply queue: clear drops what is left, also from within a reply; later replies run") {
    Bench bench;
    bench.queue->push([&] {
        bench.queue->clear();
        bench.push('b');
    });
    bench.push('a');
    bench.loop.run_until_idle();
    CHECK(bench.log == "b");
}

TEST_CASE("reply queue: a reply may destroy the queue, which drops the rest") {
    Bench bench;
    bench.queue->push([&] { bench.queue.reset(); });
    bench.push('a');
    bench.loop.run_until_idle();
    CHECK(bench.log.empty());
}

TEST_CASE("weak handle: it finds its object until the anchor is gone") {
    int object = 7;
    std::optional<core::Anchor<int>> anchor{std::in_place, object};
    const auto handle = anchor->handle();
    CHECK(handle.get() == &object);
    anchor.reset();
    CHECK(handle.get() == nullptr);
    CHECK(core::WeakHandle<int>{}.get() == nullptr);
}
