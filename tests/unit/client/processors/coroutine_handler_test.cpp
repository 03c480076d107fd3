// SPDX-License-Identifier: MIT
#include <atomic>
#include <latch>
#include <memory>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <sessionq/async.hpp>
#include <sessionq/sessionq.hpp>

using namespace sessionq;

namespace {

/// Has a current span on each thread, like tracing libraries.
class CurrentSpans final : public Tracer {
public:
    std::unique_ptr<Span> start_span(const SpanStart& start) override {
        return start.kind == SpanKind::consumer ? std::make_unique<One>(*this) : nullptr;
    }
    static bool is_inside() { return depth_ == 1; }

    std::atomic<int> entered{0};
    std::atomic<int> left{0};

private:
    struct One final : Span {
        explicit One(CurrentSpans& tracer) : all{tracer} {}
        const TraceContext& context() const noexcept override { return none; }
        void set_attribute(const SpanAttribute& /*attribute*/) override {}
        std::shared_ptr<void> enter() override {
            ++depth_;
            ++all.entered;
            return {&all, [](CurrentSpans* tracer) {
                        --depth_;
                        ++tracer->left;
                    }};
        }
        void end(const SpanEnd& /*how*/) override {}
        CurrentSpans& all;
        TraceContext none{};
    };

    static thread_local int depth_;
};

thread_local int CurrentSpans::depth_ = 0;

asio::awaitable<void> suspend() {
    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
}

} // namespace

TEST_CASE("coroutine handler: each of its parts runs while its span is entered") {
    LocalBroker broker;
    broker.create_queue("orders");
    const auto spans = std::make_shared<CurrentSpans>();
    std::vector<bool> inside;
    {
        const auto client = Client::in_process(broker, {.tracer = spans});
        Sender{client, "orders"}.send(Message::of("order").in_session("ada"));
        std::latch handled{1};
        const auto handle = [&]() -> asio::awaitable<void> {
            inside.push_back(CurrentSpans::is_inside());
            co_await suspend();
            inside.push_back(CurrentSpans::is_inside());
            co_await suspend();
            inside.push_back(CurrentSpans::is_inside());
            handled.count_down();
        };
        SessionProcessor orders{client, "orders"};
        SUBCASE("of a message") {
            orders.on_message(
                coroutine([&](MessageContext&) -> asio::awaitable<void> { co_await handle(); }));
        }
        SUBCASE("of a batch") {
            orders.on_messages(coroutine(
                [&](std::span<MessageContext>) -> asio::awaitable<void> { co_await handle(); }));
        }
        orders.start();
        handled.wait();
        orders.stop();
    } // the workers have ended
    CHECK(inside == std::vector{true, true, true});
    CHECK(spans->entered >= 3);
    CHECK(spans->left == spans->entered);
}
