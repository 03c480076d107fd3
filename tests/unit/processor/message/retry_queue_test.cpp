// SPDX-License-Identifier: MIT
#include "processor/message/retry_queue.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::MessageMachine;
using detail::processor::RetryQueue;

namespace {

/// Failed at the epoch, and waits for so long.
void fail(MessageMachine& message, Duration delay) {
    static_cast<void>(message.arrived(MessageMachine::Arrival::enqueue, 1, false));
    static_cast<void>(message.ended({.ending = detail::processor::Ending::failed},
                                    {.failure = {.action = std::nullopt, .delay = delay}},
                                    TimePoint{}));
}

} // namespace

TEST_CASE("retry queue: an empty one has nothing and waits for nothing") {
    RetryQueue queue;
    CHECK(queue.empty());
    CHECK(queue.take() == nullptr);
    CHECK(queue.next() == TimePoint::max());
}

TEST_CASE("retry queue: messages leave by the instants they wait for, the same in their order") {
    std::vector<MessageMachine> messages(4);
    RetryQueue queue;
    const Duration delays[] = {3s, 1s, 2s, 1s};
    for (std::size_t i = 0; i < messages.size(); ++i) {
        fail(messages[i], delays[i]);
        queue.add(messages[i]);
    }
    CHECK(queue.size() == 4);
    CHECK(queue.next() == TimePoint{1s});
    CHECK(queue.take_due(TimePoint{999ms}) == nullptr);
    CHECK(queue.take_due(TimePoint{1s}) == &messages[1]);
    CHECK(queue.take_due(TimePoint{1s}) == &messages[3]);
    CHECK(queue.take_due(TimePoint{1s}) == nullptr);
    CHECK(queue.next() == TimePoint{2s});
    CHECK(queue.remove(messages[2]));
    CHECK_FALSE(queue.remove(messages[2]));
    CHECK(queue.take() == &messages[0]);
    CHECK(queue.empty());
}
