// SPDX-License-Identifier: MIT
#include <sessionq/purge.hpp>

#include <doctest/doctest.h>

#include <utility>

#include <sessionq/browser.hpp>
#include <sessionq/session_receiver.hpp>

#include "client/redrive/purge_run.hpp"
#include "core/clock.hpp"
#include "support/code_of.hpp"
#include "support/manual_loop.hpp"
#include "unit/client/orders_fixture.hpp"
#include "unit/client/recording_pending.hpp"
#include "unit/client/silent_endpoint.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using ports::DeletedMessages;
using test::code_of;
using test::OrdersFixture;

namespace {

/// An endpoint whose deletions the test answers.
class Deleting final : public test::SilentEndpoint {
public:
    explicit Deleting(core::EventLoop& loop)
        : SilentEndpoint{loop, {"deleting", {ports::Capability::batch_delete}}} {}

    ports::RequestId delete_messages(ports::DeleteMessagesRequest request,
                                     ports::DeletedHandler handler) override {
        return deletions.ask(std::move(request), std::move(handler));
    }

    test::AnsweredRequests<ports::DeleteMessagesRequest, ports::DeletedHandler> deletions{};
};

struct RunFixture {
    explicit RunFixture(std::uint64_t max = 0, Deadline deadline = {})
        : pending{std::make_shared<test::RecordingPending<std::uint64_t>>(loop, deadline)} {
        pending->watch(OperationContext{}.with_stop(stop.get_token()));
        detail::client::launch<std::uint64_t>(
            pending, [this, max](const detail::client::PendingPtr<std::uint64_t>& begun) {
                std::make_shared<detail::client::PurgeRun>(
                    endpoint, ports::DeleteMessagesRequest{.entity = "orders"}, max, 60s, begun)
                    ->start();
            });
        loop.run_until_idle();
    }

    test::ManualLoop loop{};
    Deleting endpoint{loop};
    std::stop_source stop{};
    std::shared_ptr<test::RecordingPending<std::uint64_t>> pending;
};

constexpr WallTime instant{std::chrono::hours{1}};

} // namespace

TEST_CASE("purge: requests are repeated with the instant of the first one, until none is deleted") {
    RunFixture f;
    CHECK_FALSE(f.endpoint.deletions.requests.back().enqueued_before);
    f.endpoint.deletions.answer(DeletedMessages{.count = 500, .enqueued_before = instant});
    REQUIRE(f.endpoint.deletions.requests.size() == 2);
    CHECK(f.endpoint.deletions.requests.back().enqueued_before == instant);
    CHECK(f.endpoint.deletions.requests.back().max_messages == 500);
    f.endpoint.deletions.answer(DeletedMessages{.count = 7, .enqueued_before = instant});
    f.endpoint.deletions.answer(DeletedMessages{.enqueued_before = instant});
    REQUIRE(f.pending->answer());
    CHECK(f.pending->answer()->value() == 507);
    CHECK(f.endpoint.deletions.requests.size() == 3);
}

TEST_CASE("purge: without a deadline each request has a timeout of its own") {
    RunFixture f;
    CHECK(f.endpoint.deletions.requests.back().deadline == Deadline::after(60s, f.loop.now()));
    f.loop.advance(50s);
    f.endpoint.deletions.answer(DeletedMessages{.count = 1});
    CHECK(f.endpoint.deletions.requests.back().deadline == Deadline::after(60s, f.loop.now()));
    RunFixture bounded{0, Deadline::after(10s, f.loop.now())};
    CHECK(bounded.endpoint.deletions.requests.back().deadline == bounded.pending->deadline());
    for (RunFixture* const each : {&f, &bounded}) { // a purge under way keeps itself alive
        each->endpoint.deletions.answer(DeletedMessages{});
        CHECK(each->pending->answer());
    }
}

TEST_CASE("purge: a failure ends it, is not retried, and says what was deleted before") {
    RunFixture f;
    f.endpoint.deletions.answer(DeletedMessages{.count = 500});
    f.endpoint.deletions.answer(Failure{.code = Errc::connection_lost, .outcome_unknown = true});
    REQUIRE(f.pending->answer());
    CHECK(f.pending->answer()->failure().code == Errc::connection_lost);
    CHECK(f.pending->answer()->failure().detail == "500 messages were deleted before");
    CHECK(f.pending->answer()->failure().outcome_unknown);
    CHECK(f.endpoint.deletions.requests.size() == 2);
}

TEST_CASE("R15: purge: one that is given up ends with the answer to the request under way") {
    RunFixture f;
    f.endpoint.deletions.answer(DeletedMessages{.count = 500});
    f.stop.request_stop();
    f.loop.run_until_idle();
    CHECK(f.endpoint.given_up == std::vector<ports::RequestId>{2});
    CHECK_FALSE(f.pending->answer());
    SUBCASE("which it gave up") {
        f.endpoint.deletions.answer(Failure{.code = Errc::cancelled, .outcome_unknown = true});
        REQUIRE(f.pending->answer());
        CHECK(f.pending->answer()->failure().detail == "500 messages were deleted before");
    }
    SUBCASE("which deleted some") {
        f.endpoint.deletions.answer(DeletedMessages{.count = 500});
        REQUIRE(f.pending->answer());
        CHECK(f.pending->answer()->failure().detail == "1000 messages were deleted before");
    }
    CHECK(f.pending->answer()->failure().code == Errc::cancelled);
    CHECK(f.endpoint.deletions.requests.size() == 2);
}

TEST_CASE("purge: deletes what is there, in the broker of this process") {
    OrdersFixture f;
    f.sender.send_all(std::vector<Message>(1'200, Message::of("x").in_session("a")));
    f.sender.send(Message::of("y").in_session("b"));
    CHECK(purge(f.client, "orders", {.max_messages = 700}) == 700);
    CHECK(purge(f.client, "orders", {.session_id = "b"}) == 1);
    CHECK(purge(f.client, "orders", {.enqueued_before = core::system_clock().wall_now() - 1h}) ==
          0);
    CHECK(purge(f.client, "orders") == 500);
    CHECK(f.broker.counts("orders").active == 0);
    CHECK(list_sessions(f.client, "orders").empty());
}

TEST_CASE("purge: dead letters go, and what a receiver has stays") {
    OrdersFixture f;
    f.sender.send(Message::of("1").in_session("a"));
    f.sender.send(Message::of("2").in_session("a"));
    SessionReceiver receiver = SessionReceiver::accept(f.client, "orders", "a");
    auto messages = receiver.receive(2);
    REQUIRE(messages.size() == 2);
    messages[0].dead_letter("bad");
    CHECK(purge(f.client, "orders", {.sub_queue = SubQueue::dead_letter, .session_id = "b"}) == 0);
    CHECK(purge(f.client, "orders", {.sub_queue = SubQueue::dead_letter, .session_id = "a"}) == 1);
    CHECK(purge(f.client, "orders") == 0);
    messages[1].complete();
}

TEST_CASE("purge: a bad argument or option is named before anything is sent") {
    OrdersFixture f;
    f.sender.send(Message::of("1").in_session("a"));
    CHECK(code_of([&] { purge(f.client, ""); }) == Errc::invalid_argument);
    CHECK(code_of([&] { purge(f.client, "nowhere"); }) == Errc::entity_not_found);
    CHECK_THROWS_WITH_AS(purge(f.client, "orders", {.session_id = "\xff"}),
                         doctest::Contains("PurgeOptions::session_id"), Error);
    CHECK(code_of([&] { purge(f.client, "orders", {}, {.timeout = 0s}); }) == Errc::timeout);
    CHECK(f.broker.counts("orders").active == 1);
}
