// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <deque>
#include <vector>

#include "amqp/engine/delivery.hpp"
#include "amqp/engine/delivery_table.hpp"
#include "core/random.hpp"

using namespace sessionq;
using namespace sessionq::amqp;

namespace {

struct Bench {
    Delivery& add(std::uint32_t id) {
        Delivery& made = kept.emplace_back();
        made.id = id;
        table.add(made);
        return made;
    }

    /// The ids that a disposition of this range would be told for.
    std::vector<std::uint32_t> ids(std::uint32_t first, std::uint32_t last) {
        DeliveryPlaces places = table.find_range(first, last);
        return rest(places, first, last);
    }
    std::vector<std::uint32_t> rest(DeliveryPlaces& places, std::uint32_t first,
                                    std::uint32_t last) {
        std::vector<std::uint32_t> found;
        looks = 0;
        while (!places.empty()) {
            ++looks;
            const Delivery* const each = table.take_next(places);
            if (each != nullptr && each->id - first <= last - first) {
                found.push_back(each->id);
            }
        }
        return found;
    }

    DeliveryTable table{};
    std::deque<Delivery> kept{};
    std::size_t looks{0}; ///< that the last range took
};

using Ids = std::vector<std::uint32_t>;

} // namespace

TEST_CASE("DeliveryTable: finds what is in a range, in order, whatever was removed before") {
    Bench bench;
    std::deque<Delivery*> model; // by id, which wraps around
    core::Random random{7};
    auto next_id = static_cast<std::uint32_t>(-3000);
    for (int step = 0; step < 30'000; ++step) {
        const std::size_t target = step % 9000 < 6000 ? 700 : 0;
        if (model.size() < random.below(2 * target + 1)) {
            model.push_back(&bench.add(next_id++));
        } else if (!model.empty()) {
            // most leave from the front, some from anywhere: the first stays for long
            const std::size_t at = random.below(random.below(3) == 0 ? model.size() : 1);
            bench.table.remove(**std::next(model.begin(), static_cast<std::ptrdiff_t>(at)));
            model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
        }
        REQUIRE(bench.table.size() == model.size());
        if (step % 50 == 0) {
            const auto first = static_cast<std::uint32_t>(next_id - 2000 + random.below(2200));
            const auto last = static_cast<std::uint32_t>(first + random.below(600));
            Ids expected;
            for (const Delivery* each : model) {
                if (each->id - first <= last - first) {
                    expected.push_back(each->id);
                }
            }
            CHECK(bench.ids(first, last) == expected);
        }
    }
}

TEST_CASE("DeliveryTable: a range looks at what it names, not at the whole table") {
    Bench bench;
    for (std::uint32_t id = 0; id < 10'000; ++id) {
        bench.add(id);
    }
    CHECK(bench.ids(4000, 4002) == Ids{4000, 4001, 4002});
    CHECK(bench.looks == 3);
    CHECK(bench.ids(10'000, 2'000'000'000) == Ids{});
    CHECK(bench.looks == 0);
    CHECK(bench.ids(static_cast<std::uint32_t>(-5), 1) == Ids{0, 1});
    CHECK(bench.looks == 2);
    CHECK(bench.ids(0, 0xffffffff).size() == 10'000);
    CHECK(bench.ids(6, 5).size() == 9'994); // all the way round: it begins with the first
}

TEST_CASE("DeliveryTable: ids in no order are found, too") {
    Bench bench;
    for (const std::uint32_t id : {7U, 3U, 0x80000000U, 5U, 0xfffffff0U}) {
        bench.add(id);
    }
    CHECK(bench.ids(3, 5) == Ids{3, 5});
    CHECK(bench.ids(0x80000000U, 0x80000000U) == Ids{0x80000000U});
    CHECK(bench.ids(8, 9) == Ids{});
    for (Delivery& each : bench.kept) {
        bench.table.remove(each);
    }
    bench.add(1); // it begins anew, in order
    bench.add(2);
    CHECK(bench.ids(2, 9) == Ids{2});
    CHECK(bench.looks == 1);
}

TEST_CASE("DeliveryTable: a range that is not over leaves out what comes later, and what left") {
    Bench bench;
    for (std::uint32_t id = 0; id < 1000; ++id) {
        bench.add(id);
    }
    DeliveryPlaces places = bench.table.find_range(0, 5000);
    CHECK(bench.table.take_next(places)->id == 0);
    bench.add(1000);
    for (std::uint32_t id = 0; id < 990; ++id) { // its holes are dropped meanwhile
        bench.table.remove(bench.kept[id]);
    }
    bench.table.remove(bench.kept[995]);
    CHECK(bench.rest(places, 0, 5000) == Ids{990, 991, 992, 993, 994, 996, 997, 998, 999});

    places = bench.table.find_range(0, 5000);
    for (std::uint32_t id = 990; id <= 1000; ++id) {
        if (id != 995) {
            bench.table.remove(bench.kept[id]);
        }
    }
    bench.add(3000); // in the range by its id
    CHECK(bench.rest(places, 0, 5000) == Ids{});
}
