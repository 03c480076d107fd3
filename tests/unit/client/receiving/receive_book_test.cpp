// SPDX-License-Identifier: MIT
#include "client/receiving/receive_book.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "support/manual_loop.hpp"

using namespace sessionq;
using detail::client::Deliveries;
using detail::client::ReceiveBook;

namespace {

class RecordingPending final : public detail::client::Pending<Deliveries> {
public:
    using Pending::Pending;

    std::optional<std::size_t> count{};
    Deliveries taken{};

private:
    void deliver(core::Result<Deliveries> answer) override {
        taken = std::move(answer).take_or_throw();
        count = taken.size();
    }
};

struct ReceiveBookFixture {
    explicit ReceiveBookFixture(bool reclaim = false, std::size_t prefetch = 0)
        : book{reclaim, prefetch} {}

    std::shared_ptr<RecordingPending> want(std::size_t max, bool present_only = false) {
        auto pending = std::make_shared<RecordingPending>(loop, Deadline::never());
        book.want(pending, max, present_only);
        return pending;
    }
    void serve() {
        for (ReceiveBook::Answer& answer : book.serve()) {
            answer.pending->complete(std::move(answer.messages));
        }
    }
    void deliver(int count) {
        for (int i = 0; i < count; ++i) {
            auto delivery = std::make_unique<ports::Delivery>();
            delivery->port_tag = ++last_tag;
            announcements += book.delivered(std::move(delivery)) ? 1 : 0;
        }
        serve();
    }

    test::ManualLoop loop;
    ReceiveBook book;
    std::uint64_t last_tag{0};
    int announcements{0};
};

} // namespace

TEST_CASE("receive book: asks for as much as is waited for, and no more than is missing") {
    ReceiveBookFixture f;
    CHECK(f.book.next_flow().credit == 0);
    const auto first = f.want(5);
    CHECK(f.book.next_flow().credit == 5);
    CHECK(f.book.next_flow().credit == 0);
    const auto second = f.want(2);
    CHECK(f.book.next_flow().credit == 2);
    f.deliver(3);
    CHECK(first->count == 3);
    CHECK_FALSE(second->count);
    // Four of the credits are still out: enough for the second.
    CHECK(f.book.next_flow().credit == 0);
}

TEST_CASE("receive book: those who wait are served in turn and in order") {
    ReceiveBookFixture f;
    const auto first = f.want(2);
    const auto second = f.want(2);
    static_cast<void>(f.book.next_flow());
    f.deliver(3);
    REQUIRE(first->count == 2);
    REQUIRE(second->count == 1);
    CHECK(first->taken[0]->port_tag == 1);
    CHECK(first->taken[1]->port_tag == 2);
    CHECK(second->taken[0]->port_tag == 3);
}

TEST_CASE("receive book: what comes after its caller gave up is kept for the next") {
    ReceiveBookFixture f;
    const auto gone = f.want(2);
    static_cast<void>(f.book.next_flow());
    f.book.forget(*gone);
    f.deliver(2);
    CHECK_FALSE(gone->count);
    const auto next = f.want(5);
    f.serve();
    CHECK(next->count == 2);
}

TEST_CASE("receive book: what is present is known after the drain") {
    ReceiveBookFixture f;
    const auto now = f.want(3, true);
    const auto flow = f.book.next_flow();
    CHECK(flow.credit == 3);
    CHECK(flow.drain);
    CHECK(f.book.is_draining());
    f.deliver(1);
    CHECK_FALSE(now->count); // there may be more
    SUBCASE("fewer than asked for") {
        f.book.drained();
        f.serve();
        CHECK(now->count == 1);
    }
    SUBCASE("all that was asked for needs no waiting for the drain") {
        f.deliver(2);
        CHECK(now->count == 3);
    }
    SUBCASE("a caller that comes during the drain gets one of its own") {
        const auto later = f.want(1, true);
        CHECK(f.book.next_flow().credit == 0); // no credit while a drain is under way
        f.book.drained();
        f.serve();
        CHECK_FALSE(later->count);
        const auto again = f.book.next_flow();
        CHECK(again.credit == 1);
        CHECK(again.drain);
        f.book.drained();
        f.serve();
        CHECK(later->count == 0);
    }
}

TEST_CASE("receive book: a drain takes nothing from those who wait longer") {
    ReceiveBookFixture f;
    const auto patient = f.want(1);
    const auto now = f.want(1, true);
    static_cast<void>(f.book.next_flow());
    f.book.drained();
    f.serve();
    CHECK(now->count == 0);
    CHECK_FALSE(patient->count);
    CHECK(f.book.next_flow().credit == 1);
    f.deliver(1);
    CHECK(patient->count == 1);
}

TEST_CASE("receive book: unused credit is taken back at once where messages cannot go back") {
    ReceiveBookFixture f{true};
    const auto first = f.want(3);
    static_cast<void>(f.book.next_flow());
    f.deliver(1);
    CHECK(first->count == 1);
    CHECK(f.book.next_flow().drain);
    CHECK_FALSE(f.book.next_flow().drain);
}

TEST_CASE("R3: the last drain is asked for only if credit is out") {
    ReceiveBookFixture f;
    CHECK_FALSE(f.book.last_flow().drain);
    static_cast<void>(f.want(1));
    static_cast<void>(f.book.next_flow());
    CHECK(f.book.last_flow().drain);
    CHECK_FALSE(f.book.last_flow().drain);
    CHECK(f.book.is_draining());
}

TEST_CASE("receive book: at the end every waiting operation is taken once") {
    ReceiveBookFixture f;
    const auto first = f.want(1);
    const auto second = f.want(1, true);
    const auto waiting = f.book.take_waiting();
    REQUIRE(waiting.size() == 2);
    CHECK(waiting[0].pending == first);
    CHECK(waiting[1].pending == second);
    CHECK(waiting[0].messages.empty());
    CHECK(f.book.take_waiting().empty());
    f.deliver(1);
    CHECK_FALSE(first->count);
}

TEST_CASE("receive book: messages that come together are announced once, and only to a waiting "
          "operation") {
    ReceiveBookFixture f;
    f.deliver(2);
    CHECK(f.announcements == 0);
    const auto first = f.want(2);
    f.serve();
    CHECK(first->count == 2U);
    const auto second = f.want(3);
    f.deliver(3);
    CHECK(f.announcements == 1);
    CHECK(second->count == 3U);
    const auto third = f.want(1);
    f.deliver(1);
    CHECK(f.announcements == 2);
    CHECK(third->count == 1U);
}

TEST_CASE("receive book: prefetch asks for messages that nobody waits for, and refills") {
    ReceiveBookFixture f{false, 4};
    CHECK(f.book.next_flow().credit == 4);
    CHECK(f.book.next_flow().credit == 0);
    f.deliver(4);
    CHECK(f.book.next_flow().credit == 0); // they are kept
    const auto first = f.want(3);
    f.serve();
    CHECK(first->count == 3);
    CHECK(f.book.next_flow().credit == 3);
    const auto many = f.want(10);
    f.serve();
    CHECK(many->count == 1);
    CHECK(f.book.next_flow().credit == 1);
}

TEST_CASE("receive book: prefetch goes on after a drain, and takes nothing back") {
    ReceiveBookFixture f{true, 2};
    CHECK(f.book.next_flow().credit == 2);
    const auto present = f.want(5, true);
    const ReceiveBook::Flow flow = f.book.next_flow();
    CHECK(flow.credit == 3);
    CHECK(flow.drain);
    f.deliver(1);
    f.book.drained();
    f.serve();
    CHECK(present->count == 1);
    CHECK(f.book.next_flow().credit == 2);
    CHECK_FALSE(f.book.next_flow().drain);
}

TEST_CASE(
    "receive book: a kept message that is dropped is not handed out, and its place is filled") {
    ReceiveBookFixture f{false, 2};
    static_cast<void>(f.book.next_flow());
    f.deliver(2);
    f.book.drop([](const ports::Delivery& each) { return each.port_tag == 1; });
    CHECK(f.book.next_flow().credit == 1);
    const auto first = f.want(2);
    f.serve();
    REQUIRE(first->count == 1);
    CHECK(first->taken.front()->port_tag == 2);
}
