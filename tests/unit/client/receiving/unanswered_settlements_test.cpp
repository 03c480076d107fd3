// SPDX-License-Identifier: MIT
#include "client/receiving/unanswered_settlements.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "support/manual_loop.hpp"

using namespace sessionq;
using detail::client::HeldDelivery;

namespace {

class RecordingPending final : public detail::client::Pending<core::Done> {
public:
    using Pending::Pending;

    std::string outcome{};

private:
    void deliver(core::Result<core::Done> answer) override {
        outcome = answer ? "settled" : std::string{to_string(answer.failure().code)};
    }
};

struct UnansweredSettlementsFixture {
    HeldDelivery& add() {
        pending.push_back(std::make_shared<RecordingPending>(loop, Deadline::never()));
        auto delivery = std::make_shared<HeldDelivery>();
        watched.push_back(delivery);
        return settlements.add(std::move(delivery), pending.back());
    }

    test::ManualLoop loop{};
    std::vector<std::shared_ptr<RecordingPending>> pending{};
    std::vector<std::weak_ptr<HeldDelivery>> watched{};
    detail::client::UnansweredSettlements settlements{};
};

} // namespace

TEST_CASE("unanswered settlements: answers in any order reach their operations") {
    UnansweredSettlementsFixture f;
    HeldDelivery& first = f.add();
    HeldDelivery& second = f.add();
    HeldDelivery& third = f.add();
    const Failure refused{.code = Errc::message_not_found};
    f.settlements.answer(first, nullptr);
    f.settlements.answer(third, &refused);
    f.settlements.answer(second, nullptr);
    CHECK(f.pending[0]->outcome == "settled");
    CHECK(f.pending[1]->outcome == "settled");
    CHECK(f.pending[2]->outcome == "message_not_found");
}

TEST_CASE("unanswered settlements: keep a delivery until its answer") {
    UnansweredSettlementsFixture f;
    HeldDelivery& first = f.add();
    f.add();
    CHECK_FALSE(f.watched[0].expired());
    f.settlements.answer(first, nullptr);
    CHECK(f.watched[0].expired());
    CHECK_FALSE(f.watched[1].expired());
    f.settlements.fail_all(Failure{.code = Errc::lock_lost});
    CHECK(f.watched[1].expired());
    CHECK(f.pending[1]->outcome == "lock_lost");
}
