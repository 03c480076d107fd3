// SPDX-License-Identifier: MIT
#include "core/mpsc_queue.hpp"

#include <doctest/doctest.h>

#include <array>
#include <thread>
#include <vector>

using namespace sessionq::core;

namespace {

struct Item : MpscNode {
    int producer{0};
    int number{0};
};

} // namespace

TEST_CASE("mpsc queue: take_all returns everything, oldest first, and only the first push of a "
          "batch returns true") {
    MpscQueue<Item> queue;
    std::array<Item, 3> items{};
    CHECK(queue.empty());
    CHECK(queue.take_all() == nullptr);
    CHECK(queue.push(items[0]));
    CHECK_FALSE(queue.push(items[1]));
    CHECK_FALSE(queue.push(items[2]));
    Item* taken = queue.take_all();
    CHECK(queue.empty());
    for (Item& item : items) {
        CHECK(taken == &item);
        taken = MpscQueue<Item>::next(*taken);
    }
    CHECK(taken == nullptr);
    CHECK(queue.push(items[1]));
}

TEST_CASE("mpsc queue: all items that several threads push arrive, in order for each thread") {
    constexpr int producers = 3;
    constexpr int each = 2000;
    MpscQueue<Item> queue;
    std::vector<std::vector<Item>> items;
    for (int p = 0; p < producers; ++p) {
        items.emplace_back(each);
    }
    std::vector<std::thread> threads;
    for (int p = 0; p < producers; ++p) {
        threads.emplace_back([&, p] {
            for (int i = 0; i < each; ++i) {
                Item& item = items[static_cast<std::size_t>(p)][static_cast<std::size_t>(i)];
                item.producer = p;
                item.number = i;
                queue.push(item);
            }
        });
    }
    std::array<int, producers> next{};
    int wrong = 0;
    for (int count = 0; count < producers * each;) {
        for (Item* item = queue.take_all(); item != nullptr; item = MpscQueue<Item>::next(*item)) {
            wrong += item->number != next[static_cast<std::size_t>(item->producer)]++ ? 1 : 0;
            ++count;
        }
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(wrong == 0);
    CHECK(queue.empty());
}
