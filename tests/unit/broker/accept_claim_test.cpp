// SPDX-License-Identifier: MIT
#include "broker/accept_claim.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

using namespace sessionq;
using broker::AcceptClaim;

TEST_CASE("accept claim: one entity takes the answer") {
    AcceptClaim claim{3};
    CHECK_FALSE(claim.is_taken());
    CHECK(claim.take());
    CHECK(claim.is_taken());
    CHECK_FALSE(claim.take());
    CHECK_FALSE(claim.leave());
    CHECK_FALSE(claim.refuse(Errc::entity_not_found));
}

TEST_CASE("accept claim: only the last entity says that no session came") {
    AcceptClaim claim{3};
    CHECK_FALSE(claim.refuse(Errc::no_session_available));
    CHECK_FALSE(claim.refuse(Errc::no_session_available));
    CHECK_FALSE(claim.is_taken());
    CHECK(claim.refuse(Errc::no_session_available));
    CHECK(claim.is_taken());
    CHECK_FALSE(claim.take());
}

TEST_CASE("accept claim: an entity may grant after others had none, and a fault ends the ask") {
    AcceptClaim granted{2};
    CHECK_FALSE(granted.leave());
    CHECK(granted.take());
    CHECK_FALSE(granted.leave());
    AcceptClaim failed{2};
    CHECK(failed.refuse(Errc::entity_not_found));
    CHECK_FALSE(failed.take());
}

TEST_CASE("accept claim: of threads that take it and leave it, one gets the answer") {
    for (int round = 0; round < 500; ++round) {
        AcceptClaim claim{4};
        std::atomic<int> answers{0};
        std::vector<std::thread> entities;
        for (int i = 0; i < 4; ++i) {
            entities.emplace_back([&, i] {
                if (i % 2 == round % 2 ? claim.take() : claim.leave()) {
                    ++answers;
                }
            });
        }
        for (std::thread& entity : entities) {
            entity.join();
        }
        CHECK(answers == 1);
    }
}
