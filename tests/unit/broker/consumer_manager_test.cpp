#include "broker/consumer_manager.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "broker/entity.hpp"

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

TEST_CASE("consumer manager: one consumer is notified at a time, and not again before it has "
          "answered (DG3)") {
    Fixture f;
    const auto a = f.add();
    const auto b = f.add();
    CHECK(f.manager.notify_next() == nullptr);
    f.manager.set_interested(*a, true);
    f.manager.set_interested(*b, true);
    CHECK(f.manager.notify_next() == a.get());
    CHECK(a->interest == Interest::notified);
    CHECK(f.manager.notify_next() == nullptr);
    f.manager.set_interested(*a, true);
    CHECK(f.manager.notify_next() == b.get());
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
        f.manager.set_interested(*consumer, true);
    }
    for (const auto& expected : {a, b, c, a, b, c}) {
        broker::Consumer* next = f.manager.notify_next();
        CHECK(next == expected.get());
        f.manager.set_interested(*next, true);
    }
}

TEST_CASE("consumer manager: a higher priority comes first while it is interested (DG6)") {
    Fixture f;
    const auto low = f.add(0);
    const auto high = f.add(1);
    f.manager.set_interested(*low, true);
    f.manager.set_interested(*high, true);
    CHECK(f.manager.notify_next() == high.get());
    f.manager.set_interested(*high, false);
    CHECK(f.manager.notify_next() == low.get());
}

TEST_CASE(
    "consumer manager: a notified consumer that leaves or loses interest makes way for the next") {
    Fixture f;
    const auto a = f.add();
    const auto b = f.add();
    const auto c = f.add();
    for (const auto& consumer : {a, b, c}) {
        f.manager.set_interested(*consumer, true);
    }
    CHECK(f.manager.notify_next() == a.get());
    f.manager.remove(*a);
    CHECK(f.manager.notify_next() == b.get());
    f.manager.set_interested(*b, false);
    CHECK(f.manager.notify_next() == c.get());
    CHECK(f.manager.all().size() == 2);
}
