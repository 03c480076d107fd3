#include "broker/purgatory.hpp"

#include <doctest/doctest.h>

#include <array>
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
    broker::OperationId watch(const std::string& name, std::initializer_list<Purgatory::Key> keys,
                              int priority = 0, Duration wait = 10s) {
        return purgatory.watch(std::make_unique<Named>(name, log),
                               std::vector<Purgatory::Key>{keys}, priority,
                               wait == Duration::max() ? TimePoint::max() : start + wait);
    }
    std::string first(Purgatory::Key key) const {
        const auto* operation = static_cast<const Named*>(purgatory.first(key));
        return operation != nullptr ? operation->name : "nobody";
    }
    void pass_to(Duration since_start) { context.begin({.now = start + since_start}); }

    TimePoint start{1h};
    std::string log{};
    broker::QueueContext context{{.now = start}};
    Purgatory purgatory{context};
};

} // namespace

TEST_CASE("purgatory: operations wait in line for their key") {
    Fixture f;
    const auto a = f.watch("a", {1});
    f.watch("b", {1});
    f.watch("c", {2});
    CHECK(f.first(1) == "a");
    CHECK(f.first(2) == "c");
    CHECK(f.first(3) == "nobody");
    CHECK(f.purgatory.take(a));
    CHECK(f.first(1) == "b");
}

TEST_CASE("purgatory: a higher priority is served first, then the earliest (DG5, DG6)") {
    Fixture f;
    f.watch("low", {1}, -1);
    f.watch("first", {1}, 5);
    f.watch("second", {1}, 5);
    std::string served;
    while (auto* next = f.purgatory.first(1)) {
        served += static_cast<Named*>(next)->name + " ";
        f.purgatory.take(next->id());
    }
    CHECK(served == "first second low ");
}

TEST_CASE("purgatory: an operation expires once, at its time, and is gone") {
    Fixture f;
    const auto a = f.watch("a", {1}, 0, 5s);
    f.watch("b", {1}, 0, 6s);
    f.pass_to(4999ms);
    CHECK(f.log.empty());
    f.pass_to(5s);
    CHECK(f.log == "a expired;");
    CHECK_FALSE(f.purgatory.take(a));
    CHECK(f.first(1) == "b");
    f.pass_to(20s);
    CHECK(f.log == "a expired;b expired;");
    CHECK(f.purgatory.size() == 0);
}

TEST_CASE("purgatory: a taken operation does not expire and cannot be taken twice") {
    Fixture f;
    const auto a = f.watch("a", {1});
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
    const std::array<Purgatory::Key, 1> key{1};
    f.purgatory.watch(std::move(made), key, 0, f.start + 5s);
    taker.victim = f.watch("victim", {1}, 0, 5s);
    f.pass_to(5s);
    CHECK(f.log.empty());
    CHECK(f.purgatory.size() == 0);
}

TEST_CASE("purgatory: an operation that watches several keys leaves all lines at once (DG9)") {
    Fixture f;
    const auto both = f.watch("both", {1, 2});
    f.watch("one", {1});
    CHECK(f.first(1) == "both");
    CHECK(f.first(2) == "both");
    CHECK(f.purgatory.take(both));
    CHECK(f.first(1) == "one");
    CHECK(f.first(2) == "nobody");
    f.watch("both again", {2, 1}, 0, 20s);
    f.pass_to(30s);
    CHECK(f.log == "one expired;both again expired;");
    CHECK(f.first(2) == "nobody");
}

TEST_CASE("purgatory: without a time limit an operation waits for ever") {
    Fixture f;
    f.watch("patient", {1}, 0, Duration::max());
    CHECK(f.context.next_due() == TimePoint::max());
    f.pass_to(std::chrono::hours{10000});
    CHECK(f.first(1) == "patient");
}
