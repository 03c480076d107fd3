// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <deque>
#include <map>

#include "amqp/engine/delivery.hpp"
#include "core/random.hpp"

using namespace sessionq;
using namespace sessionq::amqp;

TEST_CASE("DeliveryTable: finds what was added, by id and by range, in serial order") {
    DeliveryTable table;
    std::deque<Delivery> kept;
    std::map<std::uint32_t, Delivery*> model;
    core::Random random{7};
    for (int step = 0; step < 20'000; ++step) {
        const auto id = static_cast<std::uint32_t>(0xffffff00U + random.below(512));
        const auto found = model.find(id);
        CHECK(table.find(id) == (found != model.end() ? found->second : nullptr));
        if (found == model.end()) {
            Delivery& made = kept.emplace_back();
            made.id = id;
            table.add(made);
            model[id] = &made;
        } else {
            table.remove(*found->second);
            model.erase(found);
        }
        REQUIRE(table.size() == model.size());
        if (step % 50 == 0) {
            const auto span = static_cast<std::uint32_t>(random.below(600));
            std::vector<std::uint32_t> range;
            table.find_range(id, id + span, range);
            std::vector<std::uint32_t> expected;
            for (std::uint32_t offset = 0; offset <= span; ++offset) {
                if (model.contains(id + offset)) {
                    expected.push_back(id + offset);
                }
            }
            CHECK(range == expected);
        }
    }
}

TEST_CASE("DeliveryTable: a range of four thousand million ids costs no more than the table") {
    DeliveryTable table;
    Delivery one;
    one.id = 5;
    table.add(one);
    for (int i = 0; i < 1000; ++i) {
        std::vector<std::uint32_t> found;
        table.find_range(6, 5, found); // all the way round
        CHECK(found == std::vector<std::uint32_t>{5});
    }
    table.remove(one);
}
