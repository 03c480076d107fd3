// SPDX-License-Identifier: MIT
#include "servicebus/token_book.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::servicebus::TokenBook;

namespace {

struct Case {
    /// Somebody needs the node.
    void wait(const std::string& node) {
        book.wait(node, [this](const Failure* why) {
            told += why != nullptr ? std::string{to_string(why->code)} + ";" : "granted;";
        });
    }
    TokenBook::Order order() {
        auto orders = book.take_orders(now);
        REQUIRE(orders.size() == 1);
        return orders.front();
    }
    void run(const TokenBook::Waiters& waiters, const Failure* why = nullptr) {
        for (const auto& waiter : waiters) {
            waiter(why);
        }
    }
    [[nodiscard]] std::size_t orders() { return book.take_orders(now).size(); }

    TokenBook book{10s, 1};
    TimePoint now{1h};
    std::string told{};
};

} // namespace

TEST_CASE("token book: one token serves all who wait for a node, and those who come later") {
    Case t;
    CHECK(t.orders() == 0);
    t.wait("a");
    t.wait("a");
    CHECK_FALSE(t.book.is_granted("a", t.now));
    const auto order = t.order();
    CHECK(order.node == "a");
    CHECK(order.deadline == Deadline::after(10s, t.now));
    CHECK(t.book.next() == t.now + 10s);
    CHECK(t.orders() == 0); // it is on its way
    t.wait("a");
    t.run(t.book.granted(order, t.now, 1h));
    CHECK(t.told == "granted;granted;granted;");
    CHECK(t.book.is_granted("a", t.now));
    CHECK_FALSE(t.book.is_granted("b", t.now));
    CHECK(t.book.granted(order, t.now, 1h).empty()); // it counts once
}

TEST_CASE("token book: a token is renewed before it expires, though nobody waits") {
    Case t;
    t.wait("a");
    t.run(t.book.granted(t.order(), t.now, 1h));
    const TimePoint due = t.book.next();
    CHECK(due == t.now + 45min);
    t.now = due - 1s;
    CHECK(t.orders() == 0);
    t.now = due;
    const auto order = t.order();
    CHECK(t.book.is_granted("a", t.now));
    CHECK(t.book.failed(order, t.now).empty());
    CHECK(t.book.is_granted("a", t.now)); // the old one is in force
    CHECK(t.book.next() > t.now);
    CHECK(t.book.next() <= t.now + 1s);
    t.now += 15min;
    CHECK_FALSE(t.book.is_granted("a", t.now));
}

TEST_CASE("token book: a failure is told to who waits, and the next who comes has a new attempt") {
    Case t;
    t.wait("a");
    const auto order = t.order();
    const Failure why{.code = Errc::unauthorized};
    t.run(t.book.failed(order, t.now), &why);
    CHECK(t.told == "unauthorized;");
    CHECK_FALSE(t.book.is_current(order));
    CHECK(t.book.next() == TimePoint::max());
    CHECK(t.orders() == 0);
    t.wait("a");
    CHECK(t.order().attempt != order.attempt);
    CHECK(t.book.failed(order, t.now).empty()); // too late
}

TEST_CASE("token book: an attempt is overdue at its deadline") {
    Case t;
    t.wait("a");
    t.wait("b");
    const auto orders = t.book.take_orders(t.now);
    REQUIRE(orders.size() == 2);
    t.run(t.book.granted(orders[0], t.now, 1h));
    t.now += 10s - 1ns;
    CHECK(t.book.overdue(t.now).empty());
    t.now += 1ns;
    const auto late = t.book.overdue(t.now);
    REQUIRE(late.size() == 1);
    CHECK(late[0].node == "b");
    CHECK(t.book.is_current(late[0]));
}

TEST_CASE("token book: a node whose use was rejected needs a new token") {
    Case t;
    t.book.rejected("a"); // nobody asked for it
    t.wait("a");
    auto order = t.order();
    t.book.rejected("a"); // the token on its way answers that
    t.run(t.book.granted(order, t.now, 1h));
    CHECK(t.book.is_granted("a", t.now));
    t.book.rejected("a");
    CHECK_FALSE(t.book.is_granted("a", t.now));
    CHECK(t.orders() == 0); // not before somebody needs it
    t.wait("a");
    order = t.order();
    t.run(t.book.granted(order, t.now, 1h));
    CHECK(t.told == "granted;granted;");
}

TEST_CASE("token book: with the connection every token ends and every attempt") {
    Case t;
    t.wait("a");
    t.run(t.book.granted(t.order(), t.now, 1h));
    t.wait("b");
    const auto order = t.order();
    const Failure why{.code = Errc::connection_lost};
    t.run(t.book.clear(), &why);
    CHECK(t.told == "granted;connection_lost;");
    CHECK_FALSE(t.book.is_granted("a", t.now));
    CHECK_FALSE(t.book.is_current(order));
    CHECK(t.book.granted(order, t.now, 1h).empty());
    CHECK(t.book.next() == TimePoint::max());
}
