// SPDX-License-Identifier: MIT
#include "client/browser_wait.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <utility>

#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using Messages = client::BrowserWait::Messages;

namespace {

/// An endpoint whose peeks the test answers.
class Peeked final : public ports::Endpoint {
public:
    explicit Peeked(core::EventLoop& loop) : loop_{loop} {}

    [[nodiscard]] core::EventLoop& loop() noexcept override { return loop_; }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept override {
        return capabilities_;
    }
    ports::RequestId accept(ports::AcceptRequest, ports::AcceptHandler) override { return 0; }
    ports::RequestId sending_limit(std::string, Deadline, ports::SendingLimitHandler) override {
        return 0;
    }
    ports::RequestId send(ports::SendRequest, ports::SendHandler) override { return 0; }
    ports::RequestId cancel_scheduled(std::string, std::vector<std::int64_t>, Deadline,
                                      ports::DoneHandler) override {
        return 0;
    }
    ports::RequestId list_sessions(ports::ListSessionsRequest,
                                   ports::ListSessionsHandler) override {
        return 0;
    }
    ports::RequestId delete_messages(ports::DeleteMessagesRequest, ports::DeletedHandler) override {
        return 0;
    }
    ports::RequestId manage_rules(ports::RulesRequest, ports::RulesHandler) override { return 0; }

    ports::RequestId peek(ports::PeekRequest request, ports::PeekHandler handler) override {
        CHECK_FALSE(handler_); // one at a time
        requests.push_back(std::move(request));
        handler_ = std::move(handler);
        return requests.size();
    }
    void give_up(ports::RequestId id) override { given_up.push_back(id); }

    void answer(core::Result<Messages> answer) {
        REQUIRE(handler_);
        std::exchange(handler_, nullptr)(std::move(answer));
    }

    std::vector<ports::PeekRequest> requests{};
    std::vector<ports::RequestId> given_up{};

private:
    core::EventLoop& loop_;
    const ports::Capabilities capabilities_{"peeked", {ports::Capability::peek}};
    ports::PeekHandler handler_{};
};

class RecordingPending final : public client::Pending<Messages> {
public:
    using Pending::Pending;

    std::optional<core::Result<Messages>> answer{};

private:
    void deliver(core::Result<Messages> result) override {
        CHECK_FALSE(answer);
        answer.emplace(std::move(result));
    }
};

struct BrowserWaitFixture {
    explicit BrowserWaitFixture(Duration length = 60s)
        : pending{std::make_shared<RecordingPending>(loop, Deadline::after(length, loop.now()))} {
        pending->watch(OperationContext{}.with_stop(stop.get_token()));
        client::launch<Messages>(pending, [this](const client::PendingPtr<Messages>& begun) {
            std::make_shared<client::BrowserWait>(
                endpoint, ports::PeekRequest{.entity = "orders", .from_sequence_number = 7}, begun)
                ->start();
        });
        loop.run_until_idle();
    }

    [[nodiscard]] std::optional<Errc> failure() const {
        return pending->answer && !*pending->answer ? std::optional{pending->answer->failure().code}
                                                    : std::nullopt;
    }
    static Messages one() {
        return {ReceivedMessage{std::make_shared<DecodedContent>(Message::text("a", "1")), {}}};
    }

    test::ManualLoop loop{};
    Peeked endpoint{loop};
    std::stop_source stop{};
    std::shared_ptr<RecordingPending> pending;
};

} // namespace

TEST_CASE("DG8: browser wait: a broker that answers at once is asked again with growing spaces") {
    BrowserWaitFixture f;
    std::vector<Duration> spaces;
    for (int i = 0; i < 7; ++i) {
        const TimePoint asked = f.loop.now();
        const std::size_t count = f.endpoint.requests.size();
        f.endpoint.answer(Messages{});
        while (f.endpoint.requests.size() == count) {
            f.loop.advance(1ms);
        }
        spaces.push_back(f.loop.now() - asked);
    }
    CHECK(spaces == std::vector<Duration>{50ms, 100ms, 200ms, 400ms, 800ms, 1s, 1s});
    f.endpoint.answer(BrowserWaitFixture::one());
    REQUIRE(f.pending->answer);
    CHECK(f.pending->answer->value().size() == 1);
    f.loop.advance(60s);
    CHECK(f.endpoint.requests.size() == 8);
}

TEST_CASE("DG8: browser wait: a broker that waits is asked again at once, for what is left") {
    BrowserWaitFixture f;
    CHECK(f.endpoint.requests.front().from_sequence_number == 7);
    CHECK(f.endpoint.requests.front().wait == 60s);
    f.loop.advance(30s);
    CHECK(f.endpoint.requests.size() == 1);
    f.endpoint.answer(Messages{});
    f.loop.advance(1ms);
    REQUIRE(f.endpoint.requests.size() == 2);
    CHECK(f.endpoint.requests.back().wait <= 30s);
    CHECK(f.endpoint.requests.back().wait > 29s);
    CHECK(f.endpoint.requests.back().deadline == f.pending->deadline());
    f.endpoint.answer(BrowserWaitFixture::one());
    CHECK(f.pending->answer);
}

TEST_CASE("browser wait: a failure ends it") {
    BrowserWaitFixture f;
    f.endpoint.answer(Failure{.code = Errc::entity_not_found});
    CHECK(f.failure() == Errc::entity_not_found);
}

TEST_CASE(
    "R15: browser wait: it ends at the deadline and when the stop token fires, with a request "
    "under way or without") {
    BrowserWaitFixture f{100ms};
    Errc expected = Errc::timeout;
    const auto end = [&] {
        f.loop.advance(40ms);
        CHECK_FALSE(f.pending->answer);
        SUBCASE("at the deadline") { f.loop.advance(60ms); }
        SUBCASE("by the stop token") {
            expected = Errc::cancelled;
            f.stop.request_stop();
            f.loop.run_until_idle();
        }
    };
    SUBCASE("under way, and given up") {
        end();
        CHECK_FALSE(f.pending->answer); // the port's answer ends it
        CHECK(f.endpoint.given_up == std::vector<ports::RequestId>{1});
        f.endpoint.answer(Failure{.code = Errc::cancelled});
    }
    SUBCASE("under way, and answered meanwhile") {
        end();
        f.endpoint.answer(Messages{});
    }
    SUBCASE("between requests") {
        f.endpoint.answer(Messages{});
        f.loop.advance(50ms);
        f.endpoint.answer(Messages{}); // the next is due at 150 ms
        SUBCASE("at the deadline") { f.loop.advance(50ms); }
        SUBCASE("by the stop token") {
            expected = Errc::cancelled;
            f.stop.request_stop();
            f.loop.run_until_idle();
        }
        CHECK(f.endpoint.given_up.empty());
    }
    CHECK(f.failure() == expected);
    const std::size_t asked = f.endpoint.requests.size();
    f.loop.advance(10s);
    CHECK(f.endpoint.requests.size() == asked);
    CHECK(f.pending.use_count() == 1);
}
