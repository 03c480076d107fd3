#include "processor/credit_policy.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "core/random.hpp"

using namespace sessionq;
using processor::CreditPolicy;

namespace {

constexpr std::size_t plenty = std::size_t{64} << 20U;

void arrive(CreditPolicy& policy, int count, std::size_t bytes) {
    for (int i = 0; i < count; ++i) {
        policy.arrived(bytes, true);
    }
}

} // namespace

TEST_CASE("credit policy: the window is what is configured, else follows the calls per session") {
    CHECK(CreditPolicy::window(7, 100) == 7);
    CHECK(CreditPolicy::window(0, 1) == 32);
    CHECK(CreditPolicy::window(0, 100) == 200);
}

TEST_CASE("credit policy: a window is granted at once and topped up when half of it is free") {
    CreditPolicy policy{plenty};
    CHECK(policy.grant(32, 0, 0) == 32);
    CHECK(policy.outstanding() == 32);
    CHECK(policy.grant(32, 10, 7) == 0);
    CHECK(policy.grant(32, 10, 6) == 16);
    CHECK(policy.grant(32, 32, 0) == 0);
    CHECK(policy.grant(32, 40, 0) == 0); // the window was made smaller meanwhile
}

TEST_CASE("credit policy: a window of one is granted message by message") {
    CreditPolicy policy{plenty};
    CHECK(policy.grant(1, 0, 0) == 1);
    CHECK(policy.grant(1, 0, 1) == 0);
    CHECK(policy.grant(1, 1, 0) == 0);
    CHECK(policy.grant(1, 0, 0) == 1);
}

TEST_CASE("credit policy: R23: what is fetched ahead stays within the budget") {
    CreditPolicy policy{std::size_t{16} << 10U};
    CHECK(policy.grant(32, 0, 0) == 16); // a message counts a KiB until sizes are known
    CHECK_FALSE(policy.has_room());
    CHECK(policy.grant(32, 0, 0) == 1); // but each session may have one
    CHECK(policy.grant(32, 0, 1) == 0);
}

TEST_CASE("credit policy: R23: sizes are learnt, buffered bytes leave the budget and come back") {
    CreditPolicy policy{std::size_t{1} << 20U};
    const std::uint32_t first = policy.grant(100, 0, 0);
    CHECK(first == 100);
    arrive(policy, 100, 10'000);
    CHECK(policy.outstanding() == 0);
    CHECK(policy.buffered_bytes() == 1'000'000);
    const std::uint32_t more = policy.grant(100, 0, 0);
    CHECK(more > 1);
    CHECK(more <= 6); // 48 KB are left
    for (int i = 0; i < 100; ++i) {
        policy.gone(10'000);
    }
    CHECK(policy.buffered_bytes() == 0);
    CHECK(policy.grant(100, 0, 0) > 50);
}

TEST_CASE("credit policy: R23: credit that is taken back leaves the budget") {
    CreditPolicy policy{std::size_t{16} << 10U};
    CHECK(policy.grant(16, 0, 0) == 16);
    CHECK_FALSE(policy.has_room());
    policy.used_credit(10);
    CHECK(policy.outstanding() == 6);
    CHECK(policy.has_room());
    CHECK(policy.grant(16, 0, 0) == 10);
    policy.used_credit(1000);
    CHECK(policy.outstanding() == 0);
}

TEST_CASE("credit policy: a message after its credit was counted as given back takes no other's") {
    CreditPolicy policy{plenty};
    CHECK(policy.grant(8, 0, 0) == 8);
    policy.arrived(100, false);
    CHECK(policy.outstanding() == 8);
    policy.arrived(100, true);
    CHECK(policy.outstanding() == 7);
    CHECK(policy.buffered_bytes() == 200);
}

TEST_CASE("credit policy: messages without bytes do not upset it") {
    CreditPolicy policy{std::size_t{64} << 10U};
    CHECK(policy.grant(1000, 0, 0) == 64);
    arrive(policy, 64, 0);
    policy.gone(0);
    CHECK(policy.grant(1000, 64, 0) > 64);
    policy.gone(5000);
    CHECK(policy.buffered_bytes() == 0);
}

TEST_CASE("credit policy: R23: many sessions in any order stay within the budget, one message a "
          "session apart") {
    constexpr std::size_t budget = std::size_t{1} << 20U;
    constexpr std::size_t size = 4096;
    struct Session {
        std::uint32_t held{0};
        std::uint32_t credit{0};
    };
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        core::Random random{seed};
        CreditPolicy policy{budget};
        arrive(policy, 100, size); // sizes are known
        for (int i = 0; i < 100; ++i) {
            policy.gone(size);
        }
        std::vector<Session> sessions{50};
        std::size_t held = 0;
        for (int step = 0; step < 5000; ++step) {
            Session& session = sessions[random.below(sessions.size())];
            switch (random.below(3)) {
            case 0: session.credit += policy.grant(32, session.held, session.credit); break;
            case 1:
                if (session.credit != 0) {
                    --session.credit;
                    ++session.held;
                    ++held;
                    policy.arrived(size, true);
                }
                break;
            default:
                if (session.held != 0) {
                    --session.held;
                    --held;
                    policy.gone(size);
                }
            }
            REQUIRE(policy.buffered_bytes() == held * size);
            REQUIRE(policy.buffered_bytes() <= budget + sessions.size() * size + budget / 16);
        }
    }
}
