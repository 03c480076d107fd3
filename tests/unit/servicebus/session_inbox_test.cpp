// SPDX-License-Identifier: MIT
#include "servicebus/session_inbox.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace sessionq::detail::servicebus;
using Hearing = LockedSessionMachine::Hearing;

namespace {

struct Unasked final : core::RoomWaiter {
    void on_room() override {}
};

} // namespace

TEST_CASE("session inbox: R23: what it keeps counts until it is dropped") {
    const auto room = std::make_shared<core::ReceiveRoom>();
    Unasked waiter;
    const auto share = std::make_shared<core::ReceiveShare>(room, waiter, 65536);
    SessionInbox inbox{share};
    const auto put = [&](SessionInbox::Event::Kind kind) {
        inbox.put({.kind = kind, .bytes = 1000}, Hearing::later);
    };
    put(SessionInbox::Event::Kind::delivery);
    put(SessionInbox::Event::Kind::drained); // has no bytes that count
    put(SessionInbox::Event::Kind::delivery);
    CHECK(inbox.keeps());
    CHECK(room->kept() == 2000);
    inbox.drop();
    CHECK_FALSE(inbox.keeps());
    CHECK(room->kept() == 0);
    inbox.put({.kind = SessionInbox::Event::Kind::delivery, .bytes = 1000}, Hearing::never);
    CHECK_FALSE(inbox.keeps());
    CHECK(room->kept() == 0);
    share->close();
}
