// SPDX-License-Identifier: MIT
#include "client/threads/receive_thread.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <sessionq/logging.hpp>

#include "timing/timer_service.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using detail::client::ReceiveThread;

namespace {

/// Runs `work` on the loop and gives back what it returns.
template <typename F>
auto on_loop(ReceiveThread& loop, F work) {
    std::packaged_task<decltype(work())()> task{std::move(work)};
    auto result = task.get_future();
    loop.post(std::move(task));
    return result.get();
}

struct Item : core::MpscNode {
    int producer{0};
    int number{0};
};

/// Counts what producers push and checks that each producer's come in order.
class CountingInbox final : public core::Inbox {
public:
    CountingInbox(ReceiveThread& loop, int producers, int total)
        : loop_{loop}, last_(static_cast<std::size_t>(producers), -1), left_{total} {}

    void push(Item& item) {
        if (queue_.push(item)) {
            loop_.wake();
        }
    }

    void drain() noexcept override {
        for (Item* item = queue_.take_all(); item != nullptr;
             item = core::MpscQueue<Item>::next(*item)) {
            int& last = last_[static_cast<std::size_t>(item->producer)];
            in_order_ = in_order_ && item->number == last + 1;
            last = item->number;
            if (--left_ == 0) {
                all_.set_value(in_order_);
            }
        }
    }

    [[nodiscard]] std::future<bool> all() { return all_.get_future(); }

private:
    ReceiveThread& loop_;
    core::MpscQueue<Item> queue_;
    std::vector<int> last_;
    int left_;
    bool in_order_{true};
    std::promise<bool> all_;
};

} // namespace

TEST_CASE("receive thread: tasks run in the order of posting, on its thread, never inside post") {
    ReceiveThread loop;
    std::vector<int> order;
    std::promise<void> ran;
    loop.post([&] {
        CHECK(loop.on_this_thread());
        CHECK(ReceiveThread::on_any());
        loop.post([&] {
            order.push_back(3);
            ran.set_value();
        });
        order.push_back(1);
    });
    ran.get_future().get();
    CHECK(order == std::vector{1, 3});
    on_loop(loop, [&] {
        loop.post([&] { order.push_back(5); });
        loop.post([&] { order.push_back(6); });
        order.push_back(4);
    });
    on_loop(loop, [] {});
    CHECK(order == std::vector{1, 3, 4, 5, 6});
    CHECK_FALSE(loop.on_this_thread());
    CHECK_FALSE(ReceiveThread::on_any());
}

TEST_CASE("R21: a task runs under the context of whoever posted it, the next one under its own") {
    ReceiveThread loop;
    const Deadline deadline = Deadline::at(TimePoint{std::chrono::hours{1}});
    std::promise<Deadline> seen;
    std::promise<Deadline> nested;
    std::promise<bool> clean;
    {
        const OperationContext::Scope scope{OperationContext{deadline}};
        loop.post([&] {
            seen.set_value(OperationContext::current().deadline());
            loop.post([&] { nested.set_value(OperationContext::current().deadline()); });
        });
    }
    loop.post([&] { clean.set_value(OperationContext::current().is_clean()); });
    CHECK(seen.get_future().get() == deadline);
    CHECK(clean.get_future().get());
    CHECK(nested.get_future().get() == deadline);
}

TEST_CASE("R21: a timer armed under a context expires under a clean one") {
    ReceiveThread loop;
    std::promise<bool> clean;
    timing::Timer timer{&clean, [](void* promise) {
                            static_cast<std::promise<bool>*>(promise)->set_value(
                                OperationContext::current().is_clean());
                        }};
    {
        const OperationContext::Scope scope{
            OperationContext{Deadline::at(TimePoint{std::chrono::hours{1}})}};
        loop.post([&] { loop.timers().arm(timer, loop.now() + 1ms); });
    }
    CHECK(clean.get_future().get());
}

TEST_CASE("receive thread: a timer moved to an earlier instant wakes the sleeper; one moved to a "
          "later is not early") {
    ReceiveThread loop;
    std::promise<TimePoint> expired;
    struct Probe {
        ReceiveThread& loop;
        std::promise<TimePoint>& expired;
        void on_timer() { expired.set_value(loop.now()); }
    } probe{loop, expired};
    auto timer = timing::Timer::calling<&Probe::on_timer>(&probe);
    on_loop(loop, [&] { loop.timers().arm(timer, loop.now() + 1h); });
    const TimePoint due = on_loop(loop, [&] {
        const TimePoint soon = loop.now() + 5ms;
        loop.timers().arm(timer, loop.now() + 1ms);
        loop.timers().arm(timer, soon);
        return soon;
    });
    CHECK(expired.get_future().get() >= due);
}

TEST_CASE("receive thread: what was left in an inbox before it was attached is found") {
    ReceiveThread loop;
    CountingInbox inbox{loop, 1, 1};
    auto all = inbox.all();
    Item item;
    inbox.push(item);
    loop.post([&] { loop.attach(inbox); });
    CHECK(all.get());
    on_loop(loop, [&] { loop.detach(inbox); });
}

TEST_CASE(
    "receive thread: no wake-up is lost between producers and a loop that keeps going to sleep") {
    constexpr int producers = 3;
    constexpr int each = 20'000;
    ReceiveThread loop;
    CountingInbox inbox{loop, producers, producers * each};
    auto all = inbox.all();
    on_loop(loop, [&] { loop.attach(inbox); });

    std::vector<std::vector<Item>> items(producers);
    std::vector<std::thread> threads;
    for (int producer = 0; producer < producers; ++producer) {
        auto& own = items[static_cast<std::size_t>(producer)];
        own = std::vector<Item>(each);
        threads.emplace_back([&inbox, &own, producer] {
            for (int number = 0; number < each; ++number) {
                Item& item = own[static_cast<std::size_t>(number)];
                item.producer = producer;
                item.number = number;
                inbox.push(item);
                if (number % 64 == 0) {
                    std::this_thread::yield(); // lets the loop run dry now and then
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(all.get());
    on_loop(loop, [&] { loop.detach(inbox); });
}

TEST_CASE("receive thread: a single item at a time gets across every time") {
    ReceiveThread loop;
    for (int i = 0; i < 2'000; ++i) {
        on_loop(loop, [] {});
    }
    ReceiveThread spinning{core::system_clock(), 50us};
    for (int i = 0; i < 2'000; ++i) {
        on_loop(spinning, [] {});
    }
    CHECK(on_loop(spinning, [] { return true; }));
}

TEST_CASE("receive thread: long rounds do not keep streams waiting, short ones a few at most") {
    struct Clock final : core::Clock {
        [[nodiscard]] TimePoint now() const noexcept override {
            return TimePoint{1h + Duration{passed.load()}};
        }
        [[nodiscard]] WallTime wall_now() const noexcept override { return WallTime{1h}; }
        std::atomic<Duration::rep> passed{0};
    } clock;
    Duration each{};
    unsigned most = 0;
    SUBCASE("they take no time") { most = 8; }
    SUBCASE("they take a while") {
        each = 600us;
        most = 2;
    }
    SUBCASE("they take long") {
        each = 5ms;
        most = 1;
    }
    struct Rounds {
        void run() {
            clock.passed += each.count();
            if (is_stream_served) {
                done.set_value(count);
            } else {
                ++count;
                loop.post([this] { run(); });
            }
        }
        ReceiveThread& loop;
        Clock& clock;
        const Duration each;
        bool is_stream_served{false};
        unsigned count{0};
        std::promise<unsigned> done{};
    };
    ReceiveThread loop{clock};
    Rounds rounds{loop, clock, each};
    auto count = rounds.done.get_future();
    loop.post([&] {
        asio::post(loop.io_context(), [&] { rounds.is_stream_served = true; });
        rounds.run();
    });
    CHECK(count.get() <= most);
}

TEST_CASE("receive thread: a task that throws does not end it") {
    set_log_level(LogLevel::off);
    ReceiveThread loop;
    loop.post([] { throw std::runtime_error{"broken"}; });
    CHECK(on_loop(loop, [] { return true; }));
    set_log_level(LogLevel::warning);
}

TEST_CASE("receive thread: what is still queued at the end is destroyed, also what its destruction "
          "posts") {
    auto counted = std::make_shared<int>(0);
    {
        ReceiveThread loop;
        struct PostsAtEnd {
            ReceiveThread* loop;
            std::shared_ptr<int> counted;
            PostsAtEnd(ReceiveThread& on, std::shared_ptr<int> counter)
                : loop{&on}, counted{std::move(counter)} {}
            PostsAtEnd(PostsAtEnd&&) noexcept = default;
            PostsAtEnd& operator=(PostsAtEnd&&) = delete;
            ~PostsAtEnd() {
                if (counted) {
                    loop->post([kept = std::move(counted)] { ++*kept; });
                }
            }
            void operator()() {}
        };
        for (int i = 0; i < 100; ++i) {
            loop.post(PostsAtEnd{loop, counted});
        }
    }
    CHECK(counted.use_count() == 1);
}
