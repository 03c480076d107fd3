// SPDX-License-Identifier: MIT
// Runs real threads, for ThreadSanitizer and for defects that the exploration of interleavings
// cannot find. Bounded by counts, not by time.
#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <latch>
#include <thread>
#include <vector>

#include "core/random.hpp"
#include "dispatch/worker_pool.hpp"

using namespace sessionq;
using namespace sessionq::dispatch;

namespace {

class StressedCall;

/// A session as its home thread sees it, with the count that its handlers keep.
struct Session {
    LanePtr lane{};
    unsigned max_calls{1};
    std::atomic<unsigned> running{0};
    std::atomic<bool> violated{false};
    std::uint64_t last{0}; // the handlers'; deliberately unsynchronised if max_calls is 1
    core::MpscQueue<StressedCall> finished{}; // finished calls, for the home thread
    core::IntrusiveList<Call, Lane> taken_back{};
};

class StressedCall final : public Call {
public:
    void prepare(Session& session, std::uint64_t number, bool fails) {
        session_ = &session;
        number_ = number;
        fails_ = fails;
    }

    Verdict run() noexcept override {
        Session& session = *session_;
        const bool fails = std::exchange(fails_, false);
        if (session.running.fetch_add(1) >= session.max_calls) {
            session.violated = true;
        }
        if (session.max_calls == 1) {
            if (session.last + 1 != number_) {
                session.violated = true;
            }
            session.last = fails ? session.last : number_;
        }
        session.running.fetch_sub(1);
        failed_ = fails;
        if (fails) {
            session.lane->hold(1);
        }
        session.finished.push(*this); // from here on the home thread owns the call
        return Verdict::proceed;
    }

    [[nodiscard]] bool failed() const { return failed_; }

private:
    Session* session_{nullptr};
    std::uint64_t number_{0};
    bool fails_{false};
    bool failed_{false};
};

/// A home thread: pushes, retries, pauses, takes back and pushes again, until every call has
/// succeeded.
class Home {
public:
    Home(Dispatcher& dispatcher, std::uint64_t seed, std::size_t sessions, std::uint64_t calls_each)
        : dispatcher_{dispatcher},
          random_{seed},
          sessions_(sessions),
          calls_(sessions * calls_each),
          calls_each_{calls_each} {
        for (std::size_t i = 0; i < sessions; ++i) {
            sessions_[i].max_calls = i % 4 == 3 ? 3 : 1;
            sessions_[i].lane = dispatcher_.make_lane(sessions_[i].max_calls);
            for (std::uint64_t n = 0; n < calls_each; ++n) {
                const bool may_fail = sessions_[i].max_calls == 1;
                calls_[i * calls_each + n].prepare(sessions_[i], n + 1,
                                                   may_fail && random_.below(20) == 0);
            }
        }
    }

    void run() {
        std::uint64_t pushed = 0;
        std::uint64_t succeeded = 0;
        while (succeeded < calls_.size()) {
            for (std::uint64_t i = random_.below(50); i > 0 && pushed < calls_.size();
                 --i, ++pushed) { // round robin, in order within each session
                sessions_[pushed % sessions_.size()].lane->push(
                    calls_[pushed % sessions_.size() * calls_each_ + pushed / sessions_.size()]);
            }
            dispatcher_.flush();
            Session& disturbed = sessions_[random_.below(sessions_.size())];
            if (random_.below(8) == 0) {
                disturb(disturbed);
            }
            for (Session& session : sessions_) {
                succeeded += collect(session);
            }
            if (pushed == calls_.size()) {
                std::this_thread::yield();
            }
        }
    }

    [[nodiscard]] bool violated() const {
        return std::any_of(sessions_.begin(), sessions_.end(),
                           [](const Session& session) { return session.violated.load(); });
    }

private:
    /// Pauses, takes back and pushes again in order. Changes the limit of a wide lane and restores
    /// it.
    void disturb(Session& session) {
        session.lane->pause();
        const std::size_t waiting = session.lane->waiting();
        core::IntrusiveList<Call, Lane> out;
        if (session.lane->take_back(out) != waiting) {
            session.violated = true;
        }
        while (Call* call = out.pop_back()) {
            session.lane->put_back(*call);
        }
        session.lane->resume();
        if (session.max_calls > 1) {
            session.lane->set_max_calls(1);
            session.lane->set_max_calls(session.max_calls);
        }
    }

    std::uint64_t collect(Session& session) {
        std::uint64_t succeeded = 0;
        StressedCall* next = nullptr;
        for (StressedCall* call = session.finished.take_all(); call != nullptr; call = next) {
            next = core::MpscQueue<StressedCall>::next(*call);
            if (call->failed()) { // often before the worker has reported it
                session.lane->put_back(*call);
                session.lane->release();
            } else {
                ++succeeded;
            }
        }
        return succeeded;
    }

    Dispatcher& dispatcher_;
    core::Random random_;
    std::deque<Session> sessions_;
    std::deque<StressedCall> calls_;
    std::uint64_t calls_each_;
};

void stress(Dispatcher::Options options, unsigned threads, std::size_t homes_count,
            std::size_t sessions, std::uint64_t calls_each) {
    Dispatcher dispatcher{options};
    std::deque<Home> homes;
    WorkerPool workers{dispatcher, core::system_clock(), WorkerBounds::exactly(threads)};
    for (std::size_t i = 0; i < homes_count; ++i) {
        homes.emplace_back(dispatcher, i + 1, sessions, calls_each);
    }
    std::vector<std::thread> threads_of_homes;
    for (Home& home : homes) {
        threads_of_homes.emplace_back([&home] { home.run(); });
    }
    for (std::thread& thread : threads_of_homes) { // a forgotten lane would hang here
        thread.join();
    }
    CHECK(workers.stop(Deadline::never()) == 0);
    for (const Home& home : homes) {
        CHECK_FALSE(home.violated());
    }
    CHECK(dispatcher.active_calls() == 0);
}

} // namespace

TEST_CASE("dispatch under threads: no call is lost, order and limits are kept") {
    SUBCASE("two home threads, three workers") { stress({}, 3, 2, 40, 200); }
    SUBCASE("few sessions") { stress({.quantum_calls = 2}, 4, 2, 2, 3000); }
    SUBCASE("under a cap") { stress({.max_calls = 2, .quantum_calls = 3}, 4, 2, 20, 300); }
    SUBCASE("one worker") { stress({}, 1, 1, 10, 800); }
}

TEST_CASE("dispatch under threads: lanes are made and given up while others run") {
    Dispatcher dispatcher;
    struct CountingCall final : Call {
        Verdict run() noexcept override {
            runs->fetch_add(1);
            return Verdict::proceed;
        }
        std::atomic<int>* runs{nullptr};
    };
    std::atomic<int> runs{0};
    std::deque<CountingCall> calls(6000);
    int back = 0;
    {
        WorkerPool workers{dispatcher, core::system_clock(), WorkerBounds::exactly(3)};
        for (std::size_t i = 0; i < calls.size(); i += 3) {
            const LanePtr lane = dispatcher.make_lane(1 + static_cast<unsigned>(i % 2));
            for (std::size_t n = i; n < i + 3; ++n) {
                calls[n].runs = &runs;
                lane->push(calls[n]);
            }
            dispatcher.flush();
            if (i % 2 == 0) {
                std::this_thread::yield();
            }
            lane->pause();
            core::IntrusiveList<Call, Lane> out;
            back += static_cast<int>(lane->take_back(out));
            while (out.pop_front() != nullptr) {
            }
        }
        workers.stop(Deadline::never());
    }
    CHECK(runs + back == static_cast<int>(calls.size()));
    CHECK(dispatcher.active_calls() == 0);
}

TEST_CASE("dispatch under threads: each task posted from any thread runs once") {
    Dispatcher dispatcher;
    std::atomic<int> runs{0};
    constexpr int each = 3000;
    std::latch done{4 * each};
    WorkerPool workers{dispatcher, core::system_clock(), WorkerBounds::exactly(3)};
    std::vector<std::thread> posters;
    for (int t = 0; t < 2; ++t) {
        posters.emplace_back([&] {
            for (int i = 0; i < each; ++i) {
                workers.post([&] {
                    ++runs;
                    workers.post([&] {
                        ++runs;
                        done.count_down();
                    });
                    done.count_down();
                });
            }
        });
    }
    for (std::thread& poster : posters) {
        poster.join();
    }
    done.wait();
    CHECK(runs == 4 * each);
}
