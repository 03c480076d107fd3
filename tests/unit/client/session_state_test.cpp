// SPDX-License-Identifier: MIT
#include "client/session_state.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

template <typename T>
class RecordingPending final : public client::Pending<T> {
public:
    using client::Pending<T>::Pending;

    std::vector<core::Result<T>> answers{};

private:
    void deliver(core::Result<T> answer) override { answers.push_back(std::move(answer)); }
};

/// A session in whose handler the test is.
struct SessionStateFixture {
    SessionStateFixture() {
        bench.holds = true;
        bench.start();
        link = bench.open("a");
        bench.deliver(link, {"1"});
        REQUIRE(bench.started.size() == 1);
    }

    [[nodiscard]] SessionContext session() { return bench.started.front().context->session(); }

    template <typename T>
    std::shared_ptr<RecordingPending<T>> run(client::Operation<T> operation) {
        auto pending = std::make_shared<RecordingPending<T>>(operation.loop, operation.deadline);
        pending->watch(std::move(operation.context));
        pending->on_give_up(std::move(operation.unstarted));
        client::launch<T>(pending, std::move(operation.start));
        bench.run();
        return pending;
    }

    test::ProcessorBench bench{};
    test::ScriptedLinkPtr link{};
};

} // namespace

TEST_CASE("session state: is asked of the session's link, and answered once") {
    SessionStateFixture f;
    const auto written = f.run(client::set_state(f.session(), "half", {}));
    const auto read = f.run(client::get_state(f.session(), {}));
    CHECK(written->answers.empty());
    f.link->answers_state = true;
    f.bench.run();
    CHECK(f.link->state == "half");
    REQUIRE(written->answers.size() == 1);
    CHECK(written->answers.front().ok());
    REQUIRE(read->answers.size() == 1);
    CHECK(read->answers.front().value() == "half");
    f.bench.finish_all();
}

TEST_CASE("R15: session state: a link that ends without an answer is the end of the lock, not of "
          "the deadline only") {
    SessionStateFixture f;
    const auto written = f.run(client::set_state(f.session(), "half", {}));
    const auto read = f.run(client::get_state(f.session(), {}));
    f.link->lose();
    f.bench.run();
    REQUIRE(written->answers.size() == 1);
    CHECK(written->answers.front().failure().code == Errc::lock_lost);
    REQUIRE(read->answers.size() == 1);
    CHECK(read->answers.front().failure().code == Errc::lock_lost);
    const auto late = f.run(client::get_state(f.session(), {}));
    REQUIRE(late->answers.size() == 1);
    CHECK(late->answers.front().failure().code == Errc::lock_lost);
    f.bench.finish_all();
}

TEST_CASE(
    "session state: after the lock is lost that is the failure, whatever the handler's context "
    "says") {
    SessionStateFixture f;
    OperationContext context;
    Errc while_held{};
    SUBCASE("its stop token has fired") {
        std::stop_source stop;
        stop.request_stop();
        context = context.with_stop(stop.get_token());
        while_held = Errc::cancelled;
    }
    SUBCASE("its deadline has passed") {
        context = context.with_deadline(Deadline::at(f.bench.loop.now() - 1s));
        while_held = Errc::timeout;
    }
    const auto early = f.run(client::set_state(f.session(), "half", context));
    REQUIRE(early->answers.size() == 1);
    CHECK(early->answers.front().failure().code == while_held);
    f.link->lose(Errc::lock_lost);
    f.bench.run();
    const auto late = f.run(client::set_state(f.session(), "half", context));
    REQUIRE(late->answers.size() == 1);
    CHECK(late->answers.front().failure().code == Errc::lock_lost);
    CHECK(late->answers.front().failure().detail.find("'a'") != std::string::npos);
    f.bench.finish_all();
}
