// SPDX-License-Identifier: MIT
#include "client/browsing/browser_wait.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <utility>

#include "support/manual_loop.hpp"
#include "unit/client/recording_pending.hpp"
#include "unit/client/silent_endpoint.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using Messages = detail::client::BrowserWait::Messages;

namespace {

/// An endpoint whose peeks the test answers.
class Peeked final : public test::SilentEndpoint {
public:
    explicit Peeked(core::EventLoop& loop)
        : SilentEndpoint{loop, {"peeked", {ports::Capability::peek}}} {}

    ports::RequestId peek(ports::PeekRequest request, ports::PeekHandler handler) override {
        return peeks.ask(std::move(request), std::move(handler));
    }

    test::AnsweredRequests<ports::PeekRequest, ports::PeekHandler> peeks{};
};

struct BrowserWaitFixture {
    explicit BrowserWaitFixture(Duration length = 60s)
        : pending{std::make_shared<test::RecordingPending<Messages>>(
              loop, Deadline::after(length, loop.now()))} {
        pending->watch(OperationContext{}.with_stop(stop.get_token()));
        detail::client::launch<Messages>(
            pending, [this](const detail::client::PendingPtr<Messages>& begun) {
                std::make_shared<detail::client::BrowserWait>(
                    endpoint, ports::PeekRequest{.entity = "orders", .from_sequence_number = 7},
                    begun)
                    ->start();
            });
        loop.run_until_idle();
    }

    [[nodiscard]] std::optional<Errc> failure() const {
        return pending->answer() && !*pending->answer()
                   ? std::optional{pending->answer()->failure().code}
                   : std::nullopt;
    }
    static Messages one() {
        return {ReceivedMessage{std::make_shared<DecodedContent>(Message::of("1").in_session("a")),
                                {}}};
    }

    test::ManualLoop loop{};
    Peeked endpoint{loop};
    std::stop_source stop{};
    std::shared_ptr<test::RecordingPending<Messages>> pending;
};

} // namespace

TEST_CASE("DG8: browser wait: a broker that answers at once is asked again with growing spaces") {
    BrowserWaitFixture f;
    std::vector<Duration> spaces;
    for (int i = 0; i < 7; ++i) {
        const TimePoint asked = f.loop.now();
        const std::size_t count = f.endpoint.peeks.requests.size();
        f.endpoint.peeks.answer(Messages{});
        while (f.endpoint.peeks.requests.size() == count) {
            f.loop.advance(1ms);
        }
        spaces.push_back(f.loop.now() - asked);
    }
    CHECK(spaces == std::vector<Duration>{50ms, 100ms, 200ms, 400ms, 800ms, 1s, 1s});
    f.endpoint.peeks.answer(BrowserWaitFixture::one());
    REQUIRE(f.pending->answer());
    CHECK(f.pending->answer()->value().size() == 1);
    f.loop.advance(60s);
    CHECK(f.endpoint.peeks.requests.size() == 8);
}

TEST_CASE("DG8: browser wait: a broker that waits is asked again at once, for what is left") {
    BrowserWaitFixture f;
    CHECK(f.endpoint.peeks.requests.front().from_sequence_number == 7);
    CHECK(f.endpoint.peeks.requests.front().wait == 60s);
    f.loop.advance(30s);
    CHECK(f.endpoint.peeks.requests.size() == 1);
    f.endpoint.peeks.answer(Messages{});
    f.loop.advance(1ms);
    REQUIRE(f.endpoint.peeks.requests.size() == 2);
    CHECK(f.endpoint.peeks.requests.back().wait <= 30s);
    CHECK(f.endpoint.peeks.requests.back().wait > 29s);
    CHECK(f.endpoint.peeks.requests.back().deadline == f.pending->deadline());
    f.endpoint.peeks.answer(BrowserWaitFixture::one());
    CHECK(f.pending->answer());
}

TEST_CASE("browser wait: a failure ends it") {
    BrowserWaitFixture f;
    f.endpoint.peeks.answer(Failure{.code = Errc::entity_not_found});
    CHECK(f.failure() == Errc::entity_not_found);
}

TEST_CASE(
    "R15: browser wait: it ends at the deadline and when the stop token fires, with a request "
    "under way or without") {
    BrowserWaitFixture f{100ms};
    Errc expected = Errc::timeout;
    const auto end = [&] {
        f.loop.advance(40ms);
        CHECK_FALSE(f.pending->answer());
        SUBCASE("at the deadline") { f.loop.advance(60ms); }
        SUBCASE("by the stop token") {
            expected = Errc::cancelled;
            f.stop.request_stop();
            f.loop.run_until_idle();
        }
    };
    SUBCASE("under way, and given up") {
        end();
        CHECK_FALSE(f.pending->answer()); // the port's answer ends it
        CHECK(f.endpoint.given_up == std::vector<ports::RequestId>{1});
        f.endpoint.peeks.answer(Failure{.code = Errc::cancelled});
    }
    SUBCASE("under way, and answered meanwhile") {
        end();
        f.endpoint.peeks.answer(Messages{});
    }
    SUBCASE("between requests") {
        f.endpoint.peeks.answer(Messages{});
        f.loop.advance(50ms);
        f.endpoint.peeks.answer(Messages{}); // the next is due at 150 ms
        SUBCASE("at the deadline") { f.loop.advance(50ms); }
        SUBCASE("by the stop token") {
            expected = Errc::cancelled;
            f.stop.request_stop();
            f.loop.run_until_idle();
        }
        CHECK(f.endpoint.given_up.empty());
    }
    CHECK(f.failure() == expected);
    const std::size_t asked = f.endpoint.peeks.requests.size();
    f.loop.advance(10s);
    CHECK(f.endpoint.peeks.requests.size() == asked);
    CHECK(f.pending.use_count() == 1);
}
