// SPDX-License-Identifier: MIT
#include "client/retrying_send.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <utility>

#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using client::RetryingSend;
using Numbers = RetryingSend::SequenceNumbers;

namespace {

/// An endpoint whose sends the test answers.
class SentTo final : public ports::Endpoint {
public:
    explicit SentTo(core::EventLoop& loop) : loop_{loop} {}

    [[nodiscard]] core::EventLoop& loop() noexcept override { return loop_; }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept override {
        return capabilities_;
    }
    ports::RequestId accept(ports::AcceptRequest, ports::AcceptHandler) override { return 0; }
    ports::RequestId sending_limit(std::string, Deadline, ports::SendingLimitHandler) override {
        return 0;
    }
    ports::RequestId cancel_scheduled(std::string, std::vector<std::int64_t>, Deadline,
                                      ports::DoneHandler) override {
        return 0;
    }
    ports::RequestId peek(ports::PeekRequest, ports::PeekHandler) override { return 0; }
    ports::RequestId list_sessions(ports::ListSessionsRequest,
                                   ports::ListSessionsHandler) override {
        return 0;
    }
    ports::RequestId delete_messages(ports::DeleteMessagesRequest, ports::DeletedHandler) override {
        return 0;
    }
    ports::RequestId manage_rules(ports::RulesRequest, ports::RulesHandler) override { return 0; }

    ports::RequestId send(ports::SendRequest request, ports::SendHandler handler) override {
        CHECK_FALSE(handler_); // one at a time
        sent.push_back(std::move(request));
        handler_ = std::move(handler);
        return sent.size();
    }
    void give_up(ports::RequestId id) override { given_up.push_back(id); }

    void answer(core::Result<Numbers> answer) {
        REQUIRE(handler_);
        std::exchange(handler_, nullptr)(std::move(answer));
    }

    std::vector<ports::SendRequest> sent{};
    std::vector<ports::RequestId> given_up{};

private:
    core::EventLoop& loop_;
    const ports::Capabilities capabilities_{"sent to", {}};
    ports::SendHandler handler_{};
};

class RecordingPending final : public client::Pending<Numbers> {
public:
    using Pending::Pending;

    std::optional<core::Result<Numbers>> answer{};

private:
    void deliver(core::Result<Numbers> result) override {
        CHECK_FALSE(answer);
        answer.emplace(std::move(result));
    }
};

struct RetryingSendFixture {
    RetryingSendFixture()
        : pending{std::make_shared<RecordingPending>(loop, Deadline::after(1min, loop.now()))} {
        pending->watch(OperationContext{}.with_stop(stop.get_token()));
        client::launch<Numbers>(pending, [this](const client::PendingPtr<Numbers>& begun) {
            ports::SendRequest request{.entity = "orders", .deadline = begun->deadline()};
            request.messages.push_back({.body = "x", .message_id = "1"});
            std::make_shared<RetryingSend>(
                endpoint, tries, std::move(request),
                client::SendRetry{{.max_tries = 3,
                                   .backoff = {.min = 2s, .max = 2s},
                                   .unknown_outcome = UnknownOutcome::resend},
                                  7},
                begun, meters)
                ->begin();
        });
        loop.run_until_idle();
    }
    ~RetryingSendFixture() { tries.end_all(); }

    [[nodiscard]] std::optional<Errc> failure() const {
        return pending->answer && !*pending->answer ? std::optional{pending->answer->failure().code}
                                                    : std::nullopt;
    }

    test::ManualLoop loop{};
    SentTo endpoint{loop};
    client::WaitingTries tries{};
    client::ClientMeters meters{};
    std::stop_source stop{};
    std::shared_ptr<RecordingPending> pending;
};

const Failure lost{.code = Errc::connection_lost, .outcome_unknown = true};

} // namespace

TEST_CASE("retrying send: sends the same messages again after the delay, until it succeeds") {
    RetryingSendFixture f;
    f.endpoint.answer(lost);
    CHECK(f.endpoint.sent.size() == 1);
    CHECK_FALSE(f.pending->answer);
    f.loop.advance(2s);
    REQUIRE(f.endpoint.sent.size() == 2);
    CHECK(f.endpoint.sent[1].messages.front().message_id == "1");
    CHECK(f.endpoint.sent[1].messages.front().body == "x");
    f.endpoint.answer(Numbers{5});
    REQUIRE(f.pending->answer);
    CHECK(f.pending->answer->value() == Numbers{5});
}

TEST_CASE("retrying send: the last failure is the answer, and says that the outcome is unknown") {
    RetryingSendFixture f;
    f.endpoint.answer(lost);
    f.loop.advance(2s);
    f.endpoint.answer(Failure{.code = Errc::server_busy});
    f.loop.advance(2s);
    f.endpoint.answer(Failure{.code = Errc::server_busy});
    CHECK(f.failure() == Errc::server_busy);
    CHECK(f.pending->answer->failure().outcome_unknown);
    f.loop.advance(10s);
    CHECK(f.endpoint.sent.size() == 3);
}

TEST_CASE("R15: retrying send: given up between two tries, it ends at once and sends no more") {
    RetryingSendFixture f;
    f.endpoint.answer(lost);
    SUBCASE("by its stop token") {
        f.stop.request_stop();
        f.loop.run_until_idle();
        CHECK(f.failure() == Errc::cancelled);
    }
    SUBCASE("by the end of the client") {
        f.tries.end_all();
        CHECK(f.failure() == Errc::cancelled);
    }
    CHECK(f.pending->answer->failure().outcome_unknown);
    f.loop.advance(10s);
    CHECK(f.endpoint.sent.size() == 1);
}

TEST_CASE("R15: retrying send: given up during a try, the port's answer ends it") {
    RetryingSendFixture f;
    f.stop.request_stop();
    f.loop.run_until_idle();
    CHECK(f.endpoint.given_up == std::vector<ports::RequestId>{1});
    CHECK_FALSE(f.pending->answer);
    f.endpoint.answer(Failure{.code = Errc::connection_lost});
    CHECK(f.failure() == Errc::connection_lost);
    f.loop.advance(10s);
    CHECK(f.endpoint.sent.size() == 1);
}
