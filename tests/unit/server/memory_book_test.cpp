// SPDX-License-Identifier: MIT
// R26: which connection goes when a bound is met.
#include <doctest/doctest.h>

#include <vector>

#include "server/memory_book.hpp"

using namespace sessionq;
using server::MemoryBook;
using Bound = MemoryBook::Bound;
using std::chrono::seconds;

namespace {

constexpr server::MemoryLimits limits{
    .all = 1000, .connection = 400, .unclaimed = 300, .unclaimed_connection = 100};
constexpr TimePoint start{};

struct Connection final : MemoryBook::Account {
    using Account::Account;
    void evict(Bound bound) override { evicted_for.push_back(bound); }
    std::size_t trim() noexcept override {
        ++trims;
        return bytes() - spare;
    }

    std::vector<Bound> evicted_for{};
    std::size_t spare{0};
    int trims{0};
};

struct Book {
    MemoryBook book{limits};
    void set(Connection& connection, std::size_t bytes, TimePoint now = start) {
        book.set(connection, bytes, now);
    }
};

} // namespace

TEST_CASE("MemoryBook: a connection has its own bound, a smaller one before it has a claim") {
    Book books;
    Connection stranger{books.book};
    Connection client{books.book};
    client.claim();
    books.set(stranger, 100);
    books.set(client, 400);
    CHECK(stranger.evicted_for.empty());
    CHECK(client.evicted_for.empty());
    books.set(stranger, 101);
    CHECK(stranger.evicted_for == std::vector{Bound::unclaimed_connection});
    books.set(client, 401);
    CHECK(client.evicted_for == std::vector{Bound::connection});
    CHECK(books.book.all() == 0); // what leaves counts no more
    CHECK(books.book.unclaimed() == 0);
    books.set(client, 500);
    CHECK(client.evicted_for.size() == 1); // once
}

TEST_CASE("MemoryBook: no connection goes for memory that it only keeps for traffic to come") {
    Book books;
    Connection client{books.book};
    client.claim();
    client.spare = 1;
    books.set(client, 401);
    CHECK(client.evicted_for.empty());
    CHECK(books.book.all() == 400);
    books.set(client, 402);
    CHECK(client.evicted_for == std::vector{Bound::connection});
    CHECK(client.trims == 2);
}

TEST_CASE("MemoryBook: of connections without a claim, the one that takes most goes") {
    Book books;
    Connection client{books.book};
    client.claim();
    Connection first{books.book};
    Connection second{books.book};
    Connection third{books.book};
    Connection fourth{books.book};
    books.set(client, 400);
    books.set(first, 60);
    books.set(second, 80);
    books.set(third, 80);
    books.set(fourth, 80);
    CHECK(books.book.unclaimed() == 300);
    books.set(first, 61);
    CHECK(second.evicted_for == std::vector{Bound::unclaimed}); // the oldest of equals
    CHECK(first.evicted_for.empty());
    CHECK(third.evicted_for.empty());
    CHECK(client.evicted_for.empty());
    CHECK(books.book.unclaimed() == 221);
    third.claim();
    CHECK(books.book.unclaimed() == 141);
}

TEST_CASE("MemoryBook: at the bound of all, whoever takes most goes") {
    Book books;
    Connection a{books.book};
    Connection b{books.book};
    Connection c{books.book};
    Connection stranger{books.book};
    for (Connection* each : {&a, &b, &c}) {
        each->claim();
    }
    books.set(a, 300);
    books.set(b, 310);
    books.set(c, 300);
    books.set(stranger, 90);
    CHECK(books.book.all() == 1000);
    books.set(stranger, 91);
    CHECK(b.evicted_for == std::vector{Bound::all});
    CHECK(a.evicted_for.empty());
    CHECK(c.evicted_for.empty());
    CHECK(stranger.evicted_for.empty());
    CHECK(books.book.all() == 691);
}

TEST_CASE("MemoryBook: before anybody goes, all release what they do not use, once a second") {
    Book books;
    Connection idle{books.book};
    Connection busy{books.book};
    idle.claim();
    busy.claim();
    idle.spare = 150;
    books.set(idle, 250);
    books.set(busy, 250);
    CHECK(idle.trims == 0);
    books.set(busy, 260);
    CHECK(idle.trims == 1);
    CHECK(idle.bytes() == 100);
    CHECK(books.book.all() == 360);
    idle.spare = 0;
    books.set(idle, 390);
    CHECK(idle.trims == 1);
    books.set(idle, 390, start + seconds{1});
    CHECK(idle.trims == 2);
}

TEST_CASE("MemoryBook: a connection that ends gives back what it took") {
    Book books;
    {
        Connection gone{books.book};
        books.set(gone, 100);
        CHECK(books.book.all() == 100);
        Connection evicted{books.book};
        books.set(evicted, 101);
        CHECK(books.book.all() == 100);
    }
    CHECK(books.book.all() == 0);
    CHECK(books.book.unclaimed() == 0);
}

TEST_CASE("MemoryBook: each bound is named with its size") {
    const server::MemoryLimits usual;
    CHECK(describe(Bound::connection, usual) ==
          "memory that the broker keeps for this connection exceeds 9216 KiB");
    CHECK(describe(Bound::unclaimed_connection, usual) ==
          "memory that the broker keeps for a connection without a claim exceeds 512 KiB");
    CHECK(describe(Bound::unclaimed, usual) ==
          "memory that the broker keeps for all connections without a claim exceeds 24576 KiB");
    CHECK(describe(Bound::all, usual) ==
          "memory that the broker keeps for all connections exceeds 36864 KiB");
}
