// SPDX-License-Identifier: MIT
#include "broker/purgatory.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace sessionq;
using namespace std::chrono_literals;
using broker::Purgatory;

namespace {

struct Named final : Purgatory::Operation {
    Named(std::string its_name, std::string& to) : name{std::move(its_name)}, log{to} {}
    void on_expired() override { log += name + " expired;"; }
    std::string name;
    std::string& log;
};

struct Fixture {
    broker::OperationId add(const std::string& name, int priority = 0, Duration wait = 10s) {
        return purgatory.add(std::make_unique<Named>(name, log), priority,
                             wait == Duration::max() ? TimePoint::max() : start + wait);
    }
    std::string first() const {
        const auto* operation = static_cast<const Named*>(purgatory.first());
        return operation != nullptr ? operation->name : "nobody";
    }
    void pass_to(Duration since_start) { context.begin({.now = start + since_start}); }

    TimePoint start{1h};
    std::string log{};
    broker::QueueContext context{{.now = start}};
    Purgatory purgatory{context};
};

} // namespace

TEST_CASE("purgatory: a higher priority is served first, then the earliest (DG5, DG6)") {
    Fixture f;
    CHECK(f.first() == "nobody");
    f.add("low", -1);
    f.add("first", 5);
    f.add("second", 5);
    std::string served;
    while (auto* next = f.purgatory.first()) {
        served += static_cast<Named*>(next)->name + " ";
        f.purgatory.take(next->id());
    }
    CHECK(served == "first second low ");
}

TEST_CASE("purgatory: an operation in the middle of the line leaves it at once") {
    Fixture f;
    f.add("a");
    const auto b = f.add("b");
    const auto c = f.add("c", 1);
    CHECK(f.purgatory.take(b));
    CHECK(f.first() == "c");
    CHECK(f.purgatory.take(c));
    CHECK(f.first() == "a");
    f.add("d");
    CHECK(f.purgatory.size() == 2);
    f.pass_to(10s);
    CHECK(f.log == "a expired;d expired;");
}

TEST_CASE("purgatory: an operation expires once, at its time, and is gone") {
    Fixture f;
    const auto a = f.add("a", 0, 5s);
    f.add("b", 0, 6s);
    f.pass_to(4999ms);
    CHECK(f.log.empty());
    f.pass_to(5s);
    CHECK(f.log == "a expired;");
    CHECK_FALSE(f.purgatory.take(a));
    CHECK(f.first() == "b");
    f.pass_to(20s);
    CHECK(f.log == "a expired;b expired;");
    CHECK(f.purgatory.size() == 0);
}

TEST_CASE("purgatory: a taken operation does not expire and cannot be taken twice") {
    Fixture f;
    const auto a = f.add("a");
    const auto taken = f.purgatory.take(a);
    CHECK(taken);
    CHECK_FALSE(f.purgatory.take(a));
    f.pass_to(1min);
    CHECK(f.log.empty());
}

TEST_CASE(
    "purgatory: operations due at the same instant end once each, even if one removes another") {
    Fixture f;
    struct Taker final : Purgatory::Operation {
        explicit Taker(Fixture& of) : fixture{of} {}
        void on_expired() override { CHECK(fixture.purgatory.take(victim)); }
        Fixture& fixture;
        broker::OperationId victim{0};
    };
    auto made = std::make_unique<Taker>(f);
    Taker& taker = *made;
    f.purgatory.add(std::move(made), 0, f.start + 5s);
    taker.victim = f.add("victim", 0, 5s);
    f.pass_to(5s);
    CHECK(f.log.empty());
    CHECK(f.purgatory.size() == 0);
}

TEST_CASE("purgatory: without a time limit an operation waits for ever") {
    Fixture f;
    f.add("patient", 0, Duration::max());
    CHECK(f.context.next_due() == TimePoint::max());
    f.pass_to(std::chrono::hours{10000});
    CHECK(f.first() == "patient");
}
