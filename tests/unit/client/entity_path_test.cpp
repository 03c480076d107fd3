// SPDX-License-Identifier: MIT
#include "client/entity_path.hpp"

#include <doctest/doctest.h>

#include "support/code_of.hpp"

using namespace sessionq;
using detail::client::entity_path;
using ports::Capability;
using test::code_of;

TEST_CASE("entity path: names the entity or its sub-queue") {
    const ports::Capabilities all{
        "a broker",
        {Capability::dead_letter_sub_queue, Capability::transfer_dead_letter_sub_queue}};
    CHECK(entity_path(all, "orders", SubQueue::none) == "orders");
    CHECK(entity_path(all, "orders", SubQueue::dead_letter) == "orders/$DeadLetterQueue");
    CHECK(entity_path(all, "orders", SubQueue::transfer_dead_letter) ==
          "orders/$Transfer/$DeadLetterQueue");
}

TEST_CASE("entity path: a broker without such sub-queues, and a bad name, fail early") {
    const ports::Capabilities none{"a broker", {}};
    CHECK(entity_path(none, "orders", SubQueue::none) == "orders");
    CHECK(code_of([&] { static_cast<void>(entity_path(none, "orders", SubQueue::dead_letter)); }) ==
          Errc::not_supported);
    CHECK(code_of([&] {
              static_cast<void>(entity_path(none, "orders", SubQueue::transfer_dead_letter));
          }) == Errc::not_supported);
    CHECK(code_of([&] { static_cast<void>(entity_path(none, "", SubQueue::none)); }) ==
          Errc::invalid_argument);
}
