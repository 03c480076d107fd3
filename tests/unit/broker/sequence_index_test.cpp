// SPDX-License-Identifier: MIT
#include "broker/sequence_index.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "broker/stored_message.hpp"

using namespace sessionq;

TEST_CASE("sequence index: finds exactly the messages it holds") {
    std::vector<broker::StoredMessage> messages(5);
    broker::SequenceIndex index;
    const std::vector<std::int64_t> sequences{1, 63, 64, 200, 4096};
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        index.insert(sequences[i], messages[i]);
    }
    CHECK(index.size() == 5);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        CHECK(index.find(sequences[i]) == &messages[i]);
        CHECK(index.find(sequences[i] + 1) != &messages[i]);
    }
    CHECK(index.find(2) == nullptr);
    CHECK(index.find(100000) == nullptr);
    index.erase(64);
    CHECK(index.find(64) == nullptr);
    CHECK(index.size() == 4);
}

TEST_CASE("sequence index: walks in order over gaps") {
    std::vector<broker::StoredMessage> messages(4);
    broker::SequenceIndex index;
    index.insert(5, messages[0]);
    index.insert(127, messages[1]);
    index.insert(128, messages[2]);
    index.insert(1000, messages[3]);
    CHECK(index.at_or_after(std::numeric_limits<std::int64_t>::min()) == &messages[0]);
    CHECK(index.at_or_after(5) == &messages[0]);
    CHECK(index.at_or_after(6) == &messages[1]);
    CHECK(index.at_or_after(128) == &messages[2]);
    CHECK(index.at_or_after(129) == &messages[3]);
    CHECK(index.at_or_after(1001) == nullptr);
    index.erase(127);
    CHECK(index.at_or_after(6) == &messages[2]);
}
