// SPDX-License-Identifier: MIT
#include "broker/sequenced_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/random.hpp"

using namespace sessionq;

namespace {

struct Item : core::ListHook<Item> {
    explicit Item(std::int64_t k) : key{k} {}
    std::int64_t key;
};
using Queue = broker::SequencedQueue<Item, Item, &Item::key>;

std::vector<std::int64_t> take_all(Queue& queue) {
    std::vector<std::int64_t> keys;
    while (const Item* item = queue.pop_front()) {
        keys.push_back(item->key);
    }
    return keys;
}

} // namespace

TEST_CASE("sequenced queue: returns items in the order of their keys, in whatever order they were "
          "added (DG7)") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        core::Random random{seed};
        std::vector<std::unique_ptr<Item>> items;
        std::vector<std::int64_t> keys;
        for (std::int64_t key = 0; key < 60; ++key) {
            items.push_back(std::make_unique<Item>(key));
            keys.push_back(key);
        }
        std::shuffle(items.begin(), items.end(), random);
        Queue queue;
        for (const auto& item : items) {
            queue.push(*item);
        }
        CHECK(take_all(queue) == keys);
        CHECK(queue.empty());
    }
}

TEST_CASE("sequenced queue: an item that was taken and returned is in its position again") {
    std::vector<std::unique_ptr<Item>> items;
    Queue queue;
    for (std::int64_t key = 0; key < 6; ++key) {
        items.push_back(std::make_unique<Item>(key));
        queue.push(*items.back());
    }
    for (int i = 0; i < 4; ++i) {
        queue.pop_front();
    }
    queue.push(*items[3]);
    queue.push(*items[0]);
    queue.push(*items[2]);
    CHECK(queue.front() == items[0].get());
    CHECK(take_all(queue) == std::vector<std::int64_t>{0, 2, 3, 4, 5});
}

TEST_CASE("sequenced queue: an item can be removed from anywhere, and removing an absent one has "
          "no effect") {
    std::vector<std::unique_ptr<Item>> items;
    Queue queue;
    for (const std::int64_t key : {1, 5, 3, 4, 2}) {
        items.push_back(std::make_unique<Item>(key));
        queue.push(*items.back());
    }
    CHECK(queue.size() == 5);
    queue.remove(*items[2]);
    queue.remove(*items[2]);
    CHECK(queue.size() == 4);
    CHECK_FALSE(queue.contains(*items[2]));
    CHECK(queue.contains(*items[3]));
    queue.remove(*items[0]);
    CHECK(take_all(queue) == std::vector<std::int64_t>{2, 4, 5});
    CHECK(queue.size() == 0);
}
