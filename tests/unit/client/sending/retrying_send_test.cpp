// SPDX-License-Identifier: MIT
#include "client/sending/retrying_send.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <utility>

#include "support/manual_loop.hpp"
#include "unit/client/recording_pending.hpp"
#include "unit/client/silent_endpoint.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using detail::client::RetryingSend;
using Numbers = RetryingSend::SequenceNumbers;

namespace {

/// An endpoint whose sends the test answers.
class SentTo final : public test::SilentEndpoint {
public:
    explicit SentTo(core::EventLoop& loop) : SilentEndpoint{loop, {"sent to", {}}} {}

    ports::RequestId send(ports::SendRequest request, ports::SendHandler handler) override {
        return sends.ask(std::move(request), std::move(handler));
    }

    test::AnsweredRequests<ports::SendRequest, ports::SendHandler> sends{};
};

struct RetryingSendFixture {
    RetryingSendFixture()
        : pending{std::make_shared<test::RecordingPending<Numbers>>(
              loop, Deadline::after(1min, loop.now()))} {
        pending->watch(OperationContext{}.with_stop(stop.get_token()));
        detail::client::launch<Numbers>(
            pending, [this](const detail::client::PendingPtr<Numbers>& begun) {
                ports::SendRequest request{.entity = "orders", .deadline = begun->deadline()};
                request.messages.push_back({.body = "x", .message_id = "1"});
                std::make_shared<RetryingSend>(
                    endpoint, tries, std::move(request),
                    detail::client::SendRetry{{.max_attempts = 3,
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
        return pending->answer() && !*pending->answer()
                   ? std::optional{pending->answer()->failure().code}
                   : std::nullopt;
    }

    test::ManualLoop loop{};
    SentTo endpoint{loop};
    detail::client::WaitingTries tries{};
    detail::client::ClientMeters meters{};
    std::stop_source stop{};
    std::shared_ptr<test::RecordingPending<Numbers>> pending;
};

const Failure lost{.code = Errc::connection_lost, .outcome_unknown = true};

} // namespace

TEST_CASE("retrying send: sends the same messages again after the delay, until it succeeds") {
    RetryingSendFixture f;
    f.endpoint.sends.answer(lost);
    CHECK(f.endpoint.sends.requests.size() == 1);
    CHECK_FALSE(f.pending->answer());
    f.loop.advance(2s);
    REQUIRE(f.endpoint.sends.requests.size() == 2);
    CHECK(f.endpoint.sends.requests[1].messages.front().message_id == "1");
    CHECK(f.endpoint.sends.requests[1].messages.front().body == "x");
    f.endpoint.sends.answer(Numbers{5});
    REQUIRE(f.pending->answer());
    CHECK(f.pending->answer()->value() == Numbers{5});
}

TEST_CASE("retrying send: the last failure is the answer, and says that the outcome is unknown") {
    RetryingSendFixture f;
    f.endpoint.sends.answer(lost);
    f.loop.advance(2s);
    f.endpoint.sends.answer(Failure{.code = Errc::server_busy});
    f.loop.advance(2s);
    f.endpoint.sends.answer(Failure{.code = Errc::server_busy});
    CHECK(f.failure() == Errc::server_busy);
    CHECK(f.pending->answer()->failure().outcome_unknown);
    f.loop.advance(10s);
    CHECK(f.endpoint.sends.requests.size() == 3);
}

TEST_CASE("R15: retrying send: given up between two tries, it ends at once and sends no more") {
    RetryingSendFixture f;
    f.endpoint.sends.answer(lost);
    SUBCASE("by its stop token") {
        f.stop.request_stop();
        f.loop.run_until_idle();
        CHECK(f.failure() == Errc::cancelled);
    }
    SUBCASE("by the end of the client") {
        f.tries.end_all();
        CHECK(f.failure() == Errc::cancelled);
    }
    CHECK(f.pending->answer()->failure().outcome_unknown);
    f.loop.advance(10s);
    CHECK(f.endpoint.sends.requests.size() == 1);
}

TEST_CASE("R15: retrying send: given up during a try, the port's answer ends it") {
    RetryingSendFixture f;
    f.stop.request_stop();
    f.loop.run_until_idle();
    CHECK(f.endpoint.given_up == std::vector<ports::RequestId>{1});
    CHECK_FALSE(f.pending->answer());
    f.endpoint.sends.answer(Failure{.code = Errc::connection_lost});
    CHECK(f.failure() == Errc::connection_lost);
    f.loop.advance(10s);
    CHECK(f.endpoint.sends.requests.size() == 1);
}
