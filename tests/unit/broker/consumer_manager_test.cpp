// SPDX-License-Identifier: MIT
#include "broker/consumer_manager.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "broker/entity.hpp"
#include "core/random.hpp"

using namespace sessionq;
using broker::ConsumerPtr;
using broker::Interest;

namespace {

struct Fixture {
    ConsumerPtr add(int priority = 0) {
        auto consumer = std::make_shared<broker::Consumer>(entity.consumers, nullptr, "", false,
                                                           broker::ReceiveMode::peek_lock, priority,
                                                           TimePoint::max(), nullptr);
        manager.add(consumer);
        return consumer;
    }

    broker::QueueContext context{{}};
    broker::Entity entity{"plain", broker::EntityKind::queue, {}, context, nullptr};
    broker::ConsumerManager manager{};
};

} // namespace

TEST_CASE("consumer manager: a batch is announced to one consumer, and not again (DG3)") {
    Fixture f;
    const auto a = f.add();
    const auto b = f.add();
    CHECK(f.manager.notify_next(3) == nullptr);
    f.manager.set_wanted(*a, 10);
    f.manager.set_wanted(*b, 10);
    CHECK(f.manager.notify_next(0) == nullptr);
    CHECK(f.manager.notify_next(3) == a.get());
    CHECK(a->interest == Interest::notified);
    CHECK(f.manager.notify_next(3) == nullptr);
    f.manager.set_wanted(*a, 10); // it left them
    CHECK(f.manager.notify_next(3) == b.get());
    CHECK(f.manager.notify_next(3) == nullptr);
}

TEST_CASE("consumer manager: messages beyond a consumer's credit are announced to others") {
    Fixture f;
    const auto a = f.add();
    const auto b = f.add();
    const auto c = f.add();
    f.manager.set_wanted(*a, 2);
    f.manager.set_wanted(*b, 3);
    f.manager.set_wanted(*c, 1);
    CHECK(f.manager.notify_next(5) == a.get());
    CHECK(f.manager.notify_next(5) == b.get());
    CHECK(f.manager.notify_next(5) == nullptr);
    CHECK(f.manager.notify_next(6) == c.get());
}

TEST_CASE("consumer manager: a consumer that does not come delays no message that arrives later") {
    Fixture f;
    const auto slow = f.add(1);
    const auto b = f.add();
    f.manager.set_wanted(*slow, 100);
    f.manager.set_wanted(*b, 100);
    CHECK(f.manager.notify_next(2) == slow.get());
    CHECK(f.manager.notify_next(3) == b.get());
    // b takes all three, also those that were announced to the other
    f.manager.set_wanted(*b, 97);
    CHECK(f.manager.notify_next(0) == nullptr);
    for (int i = 0; i < 5; ++i) {
        CHECK(f.manager.notify_next(1) == b.get());
        CHECK(f.manager.notify_next(1) == nullptr);
        f.manager.set_wanted(*b, 100);
        CHECK(f.manager.notify_next(0) == nullptr);
    }
    f.manager.set_wanted(*slow, 100);
    CHECK(f.manager.notify_next(1) == slow.get());
}

TEST_CASE("consumer manager: never more consumers are notified than messages are available") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        core::Random random{seed};
        Fixture f;
        std::vector<ConsumerPtr> consumers;
        for (int i = 0; i < 4; ++i) {
            consumers.push_back(f.add(static_cast<int>(random() % 2)));
        }
        std::size_t available = 0;
        for (int step = 0; step < 100; ++step) {
            const auto& one = consumers[random() % consumers.size()];
            if (random() % 2 == 0) {
                available += random() % 3;
            } else {
                const std::size_t max = 1 + random() % 4;
                const std::size_t taken = std::min(max, available);
                available -= taken;
                f.manager.set_wanted(*one, static_cast<std::uint32_t>(max - taken));
            }
            std::size_t announced = 0;
            while (const broker::Consumer* next = f.manager.notify_next(available)) {
                CHECK(next->announced > 0);
            }
            bool is_anyone_interested = false;
            for (const auto& each : consumers) {
                announced += each->announced;
                is_anyone_interested |= each->interest == Interest::interested;
            }
            CHECK(announced <= available);
            CHECK((announced == available || !is_anyone_interested)); // no message is forgotten
        }
    }
}

TEST_CASE("consumer manager: consumers are removed in any order, once") {
    Fixture f;
    std::vector<ConsumerPtr> consumers;
    for (int i = 0; i < 6; ++i) {
        consumers.push_back(f.add());
    }
    for (const std::size_t leaves : {2U, 0U, 5U, 2U, 3U, 1U, 4U}) {
        f.manager.remove(*consumers[leaves]);
        const auto& all = f.manager.all();
        CHECK(std::ranges::find(all, consumers[leaves]) == all.end());
    }
    CHECK(f.manager.all().empty());
}

TEST_CASE("consumer manager: consumers of one priority take turns (DG5)") {
    Fixture f;
    const auto a = f.add();
    const auto b = f.add();
    const auto c = f.add();
    for (const auto& consumer : {a, b, c}) {
        f.manager.set_wanted(*consumer, 10);
    }
    for (const auto& expected : {a, b, c, a, b, c}) {
        broker::Consumer* next = f.manager.notify_next(1);
        CHECK(next == expected.get());
        f.manager.set_wanted(*next, 10);
    }
}

TEST_CASE("consumer manager: a higher priority comes first while it is interested (DG6)") {
    Fixture f;
    const auto low = f.add(0);
    const auto high = f.add(1);
    f.manager.set_wanted(*low, 10);
    f.manager.set_wanted(*high, 10);
    CHECK(f.manager.notify_next(1) == high.get());
    f.manager.set_wanted(*high, 0);
    CHECK(f.manager.notify_next(1) == low.get());
}

TEST_CASE(
    "consumer manager: a notified consumer that leaves or loses interest makes way for the next") {
    Fixture f;
    const auto a = f.add();
    const auto b = f.add();
    const auto c = f.add();
    for (const auto& consumer : {a, b, c}) {
        f.manager.set_wanted(*consumer, 10);
    }
    CHECK(f.manager.notify_next(1) == a.get());
    f.manager.remove(*a);
    CHECK(f.manager.notify_next(1) == b.get());
    f.manager.set_wanted(*b, 0);
    CHECK(f.manager.notify_next(1) == c.get());
    CHECK(f.manager.all().size() == 2);
}
