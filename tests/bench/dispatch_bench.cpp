// SPDX-License-Identifier: MIT
// Messages with an empty handler, from one thread to N threads: lanes on a WorkerPool, against
// lanes on an application's executor and against strands on an asio::thread_pool, in the same run.
// The executor posts to an asio::thread_pool. Both count alike: a session counts its messages
// without synchronisation, because they run in order, and the last one reports.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>

#include "dispatch/executor_workers.hpp"
#include "dispatch/worker_pool.hpp"

using namespace sessionq;
using namespace sessionq::dispatch;

namespace {

constexpr std::size_t messages_a_round = 100'000;
// the number of messages that a receive thread reads at once
constexpr std::size_t flush_every = 64;

/// The order of sessions: round robin, or `burst` messages in a row for each.
struct Shape {
    std::size_t sessions;
    std::size_t burst;

    [[nodiscard]] std::size_t session_of(std::size_t message) const {
        return message / burst % sessions;
    }
    [[nodiscard]] std::size_t messages_of_each() const { return messages_a_round / sessions; }
};

/// Waits for the last message of a round.
class Round {
public:
    void begin(std::size_t sessions) { open_.store(sessions, std::memory_order_relaxed); }
    void session_done() {
        if (open_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            open_.notify_one();
        }
    }
    void wait() {
        for (std::size_t open = open_.load(std::memory_order_acquire); open != 0;
             open = open_.load(std::memory_order_acquire)) {
            open_.wait(open);
        }
    }

private:
    std::atomic<std::size_t> open_{0};
};

struct alignas(64) Session {
    Round* round{nullptr};
    std::size_t expected{0};
    std::size_t seen{0};

    void on_message() {
        if (++seen == expected) {
            seen = 0;
            round->session_done();
        }
    }
};

class EmptyCall final : public Call {
public:
    explicit EmptyCall(Session& session) : session_{session} {}

    Verdict run() noexcept override {
        session_.on_message();
        return Verdict::proceed;
    }

private:
    Session& session_;
};

std::vector<Session> make_sessions(const Shape& shape, Round& round) {
    std::vector<Session> sessions(shape.sessions);
    for (Session& session : sessions) {
        session.round = &round;
        session.expected = shape.messages_of_each();
    }
    return sessions;
}

Shape shape_of(const benchmark::State& state) {
    return {.sessions = static_cast<std::size_t>(state.range(0)),
            .burst = static_cast<std::size_t>(state.range(1))};
}

void report(benchmark::State& state) {
    state.SetItemsProcessed(static_cast<std::int64_t>(messages_a_round) * state.iterations());
}

/// Pushes the messages of each round to lanes of `dispatcher`, whose `workers` it stops then.
void push_rounds(benchmark::State& state, Dispatcher& dispatcher, Workers& workers) {
    const Shape shape = shape_of(state);
    Round round;
    std::vector<Session> sessions = make_sessions(shape, round);
    std::deque<EmptyCall> calls; // made once and reused, like the processor's deliveries
    std::vector<LanePtr> lanes;
    for (std::size_t i = 0; i < shape.sessions; ++i) {
        lanes.push_back(dispatcher.make_lane(1));
    }
    for (std::size_t i = 0; i < messages_a_round; ++i) {
        calls.emplace_back(sessions[shape.session_of(i)]);
    }
    for (auto _ : state) {
        round.begin(shape.sessions);
        for (std::size_t i = 0; i < messages_a_round; ++i) {
            lanes[shape.session_of(i)]->push(calls[i]);
            if ((i + 1) % flush_every == 0) {
                dispatcher.flush();
            }
        }
        dispatcher.flush();
        round.wait();
    }
    workers.stop(Deadline::never()); // they may still notify the round
    report(state);
}

void lanes(benchmark::State& state) {
    Dispatcher dispatcher;
    WorkerPool workers{dispatcher, core::system_clock(),
                       WorkerBounds::exactly(static_cast<unsigned>(state.range(2)))};
    push_rounds(state, dispatcher, workers);
}

class PostingExecutor final : public HandlerExecutor {
public:
    explicit PostingExecutor(std::size_t threads) : pool_{threads} {}

    void execute(HandlerWork work) override { asio::post(pool_, std::move(work)); }

private:
    asio::thread_pool pool_;
};

void lanes_on_executor(benchmark::State& state) {
    const auto executor =
        std::make_shared<PostingExecutor>(static_cast<std::size_t>(state.range(2)));
    Dispatcher dispatcher;
    ExecutorWorkers workers{dispatcher,
                            core::system_clock(),
                            executor,
                            static_cast<unsigned>(state.range(0)),
                            [](const std::string&) {},
                            ExecutorWorkers::Waits{}};
    push_rounds(state, dispatcher, workers);
}

void strands(benchmark::State& state) {
    const Shape shape = shape_of(state);
    Round round;
    std::vector<Session> sessions = make_sessions(shape, round);
    asio::thread_pool pool{static_cast<std::size_t>(state.range(2))};
    std::vector<asio::strand<asio::thread_pool::executor_type>> strands;
    for (std::size_t i = 0; i < shape.sessions; ++i) {
        strands.emplace_back(asio::make_strand(pool));
    }
    for (auto _ : state) {
        round.begin(shape.sessions);
        for (std::size_t i = 0; i < messages_a_round; ++i) {
            const std::size_t session = shape.session_of(i);
            asio::post(strands[session], [&on = sessions[session]] { on.on_message(); });
        }
        round.wait();
    }
    report(state);
}

void shapes(benchmark::internal::Benchmark* bench) {
    bench->ArgNames({"sessions", "burst", "threads"})
        ->UseRealTime()
        ->MeasureProcessCPUTime()
        ->Unit(benchmark::kMillisecond);
    for (const int threads : {1, 2, 4}) {
        for (const int sessions : {1, 1'000, 10'000}) {
            bench->Args({sessions, 1, threads});
        }
        bench->Args({1'000, 10, threads});
    }
}

BENCHMARK(lanes)->Apply(shapes);
BENCHMARK(lanes_on_executor)->Apply(shapes);
BENCHMARK(strands)->Apply(shapes);

} // namespace
