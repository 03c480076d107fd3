// SPDX-License-Identifier: MIT
#include "ports/settlement_book.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <memory>

using namespace sessionq;
using ports::Delivery;
using ports::SettlementBook;

namespace {

/// Writes down which deliveries are answered, by their place.
struct Events final : ports::LinkEvents {
    explicit Events(std::array<Delivery, 5>& of) : all{of} {}
    ports::DeliveryPtr new_delivery() override { return std::make_unique<Delivery>(); }
    void on_delivery(ports::DeliveryPtr) override {}
    void on_settled(Delivery& delivery, const Failure* failure) override {
        REQUIRE(failure != nullptr);
        CHECK(failure->code == Errc::connection_lost);
        told += static_cast<char>('0' + (&delivery - all.data()));
        if (meanwhile) {
            meanwhile();
        }
    }
    void on_drained() override {}
    void on_lost(const Failure&) override {}

    std::array<Delivery, 5>& all;
    std::string told{};
    std::function<void()> meanwhile{};
};

const Failure lost{.code = Errc::connection_lost};

} // namespace

TEST_CASE("R15: settlement book: each settlement is answered once, in any order") {
    std::array<Delivery, 5> deliveries;
    SettlementBook book;
    CHECK(book.empty());
    CHECK_FALSE(book.take(deliveries[0]));
    for (Delivery& each : deliveries) {
        book.add(each);
    }
    for (const int place : {0, 2, 4, 1, 3}) {
        CHECK_FALSE(book.empty());
        CHECK(book.take(deliveries[static_cast<std::size_t>(place)]));
        CHECK_FALSE(book.take(deliveries[static_cast<std::size_t>(place)]));
    }
    CHECK(book.empty());
    book.add(deliveries[2]); // memory is used again
    CHECK(book.take(deliveries[2]));
}

TEST_CASE("R15: settlement book: the end answers what is left, oldest first, and what comes "
          "meanwhile") {
    std::array<Delivery, 5> deliveries;
    Events events{deliveries};
    SettlementBook book;
    for (std::size_t i = 0; i < 4; ++i) {
        book.add(deliveries[i]);
    }
    CHECK(book.take(deliveries[1]));
    events.meanwhile = [&] {
        if (events.told == "0") {
            book.add(deliveries[4]);
        }
    };
    CHECK(book.fail_all(&events, lost));
    CHECK(events.told == "0234");
    CHECK(book.empty());
    CHECK(book.fail_all(nullptr, lost)); // nobody is told
}

TEST_CASE("settlement book: an answer may destroy it") {
    std::array<Delivery, 5> deliveries;
    Events events{deliveries};
    auto book = std::make_unique<SettlementBook>();
    for (Delivery& each : deliveries) {
        book->add(each);
    }
    bool nested = false;
    SUBCASE("from the first round") {}
    SUBCASE("from a round within a round") { nested = true; }
    events.meanwhile = [&] {
        if (nested && events.told == "0") {
            CHECK_FALSE(book->fail_all(&events, lost));
        } else {
            book.reset();
        }
    };
    CHECK_FALSE(book->fail_all(&events, lost));
    CHECK(events.told == (nested ? "01" : "0"));
}
