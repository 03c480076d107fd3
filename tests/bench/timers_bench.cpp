// SPDX-License-Identifier: MIT
// The cost of a timer among n live ones: our wheel, Asio's waitable timer, a std::multimap. All
// have the same due times, 1 s to 10 min ahead.
//
// recent: the timer was used a moment ago, so only the data structure decides the cost.
// random: another of the n timers each time. Beyond some 10,000 it is not in the cache, and
// fetching it is most of the cost.
// expire: inserts n timers and advances time until all callbacks have run, 16 per step on average.
//
// ratios: the three most important ones in turn, in rounds so short that a slow phase of the
// machine affects all alike. Reports the medians of the rounds' ratios.
//
// Asio's steady_timer runs in a single-threaded io_context. "unlocked" is its fastest form, without
// locks and on a manual clock. A cancelled wait completes through Asio's queue, so the queue is
// drained once every 64 operations. The wheel is asked for its next wake-up as often.

#include <asio/basic_waitable_timer.hpp>
#include <asio/io_context.hpp>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "timing/timer_wheel.hpp"

namespace {

using namespace sessionq;
using namespace std::chrono_literals;

// late enough that no steady_timer expires during the run
const TimePoint start = std::chrono::steady_clock::now() + 1h;
constexpr Duration shortest = 1s;
constexpr Duration longest = 10min;
constexpr std::size_t batch = 64;
constexpr std::size_t recent_timers = 16; // in addition to the n live ones

class Wheel {
public:
    explicit Wheel(std::size_t count) : timers_(count) { Counting::expired = 0; }
    void insert(std::size_t i, TimePoint due) { wheel_.insert(timers_[i], due); }
    void cancel(std::size_t i) { wheel_.cancel(timers_[i]); }
    void settle() { benchmark::DoNotOptimize(wheel_.next_wakeup()); }
    void advance(TimePoint now) {
        timing::TimerWheel::List due;
        wheel_.advance(now, due);
        while (timing::Timer* timer = due.pop_front()) {
            timer->run();
        }
    }
    [[nodiscard]] std::size_t expired() const { return Counting::expired; }

private:
    struct Counting : timing::Timer {
        Counting() : Timer{nullptr, [](void*) { ++expired; }} {}
        static inline std::size_t expired = 0;
    };

    timing::TimerWheel wheel_{start};
    std::vector<Counting> timers_;
};

/// A steady clock that is set by hand.
struct HandClock {
    using duration = Duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = TimePoint;
    static constexpr bool is_steady = true;
    static time_point now() noexcept { return current; }
    static inline time_point current = start;
};

template <typename Clock, int Hint>
class Asio {
public:
    explicit Asio(std::size_t count) {
        HandClock::current = start;
        timers_.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            timers_.emplace_back(context_);
        }
    }
    void insert(std::size_t i, TimePoint due) {
        timers_[i].expires_at(due);
        timers_[i].async_wait([this](const asio::error_code& error) { expired_ += error ? 0 : 1; });
    }
    void cancel(std::size_t i) { timers_[i].cancel(); }
    void settle() {
        context_.poll();
        context_.restart();
    }
    void advance(TimePoint now) {
        HandClock::current = now;
        // Asio relies on the system's timer, which does not know this clock
        nudge_.expires_at(TimePoint::min());
        nudge_.async_wait([](const asio::error_code&) {});
        settle();
    }
    [[nodiscard]] std::size_t expired() const { return expired_; }

private:
    asio::io_context context_{Hint};
    asio::basic_waitable_timer<Clock> nudge_{context_};
    std::vector<asio::basic_waitable_timer<Clock>> timers_;
    std::size_t expired_{0};
};

using SteadyTimer = Asio<std::chrono::steady_clock, 1>;
using UnlockedTimer = Asio<HandClock, ASIO_CONCURRENCY_HINT_UNSAFE>;

class Multimap {
public:
    explicit Multimap(std::size_t count) : places_(count) {}
    void insert(std::size_t i, TimePoint due) { places_[i] = timers_.emplace(due, this); }
    void cancel(std::size_t i) { timers_.erase(places_[i]); }
    void settle() { benchmark::DoNotOptimize(timers_.begin()); }
    void advance(TimePoint now) {
        while (!timers_.empty() && timers_.begin()->first <= now) {
            ++timers_.begin()->second->expired_;
            timers_.erase(timers_.begin());
        }
    }
    [[nodiscard]] std::size_t expired() const { return expired_; }

private:
    std::multimap<TimePoint, Multimap*> timers_;
    std::vector<decltype(timers_)::iterator> places_;
    std::size_t expired_{0};
};

/// Random numbers made in advance, so that making them is not measured.
class Pool {
public:
    explicit Pool(std::size_t live) {
        std::mt19937_64 random{live};
        std::uniform_int_distribution<Duration::rep> delay{Duration{shortest}.count(),
                                                           Duration{longest}.count()};
        std::uniform_int_distribution<std::uint32_t> which{0, static_cast<std::uint32_t>(live - 1)};
        for (std::size_t i = 0; i < size; ++i) {
            dues_.push_back(start + Duration{delay(random)});
            timers_.push_back(which(random));
        }
    }
    TimePoint due() { return dues_[next_due_++ % size]; }
    TimePoint cached_due() {
        return dues_[next_due_++ % 2'048];
    } // small enough to stay in the cache
    std::uint32_t timer() { return timers_[next_timer_++ % size]; }

private:
    static constexpr std::size_t size = 1 << 20;

    std::vector<TimePoint> dues_;
    std::vector<std::uint32_t> timers_;
    std::size_t next_due_{0};
    std::size_t next_timer_{0};
};

template <typename Timers>
struct Populated {
    explicit Populated(std::size_t count)
        : live{count}, timers{count + recent_timers}, pool{count} {
        for (std::size_t i = 0; i < live; ++i) {
            timers.insert(i, pool.due());
        }
    }
    std::size_t live;
    Timers timers;
    Pool pool;
};

/// Shared by all runs with this number, because filling takes longer than measuring.
template <typename Timers>
Populated<Timers>& populated(std::size_t live) {
    static std::map<std::size_t, std::unique_ptr<Populated<Timers>>> kept;
    auto& here = kept[live];
    if (here == nullptr) {
        here = std::make_unique<Populated<Timers>>(live);
    }
    return *here;
}

std::size_t live_of(const benchmark::State& state) {
    return static_cast<std::size_t>(state.range(0));
}

template <typename Timers>
void recent_batch(Populated<Timers>& among) {
    auto& [live, timers, pool] = among;
    for (std::size_t i = 0; i < batch; ++i) {
        const std::size_t timer = live + i % recent_timers;
        timers.insert(timer, pool.cached_due());
        timers.cancel(timer);
    }
    timers.settle();
}

template <typename Timers>
void random_batch(Populated<Timers>& among) {
    auto& [live, timers, pool] = among;
    for (std::size_t i = 0; i < batch; ++i) {
        const std::size_t timer = pool.timer();
        timers.cancel(timer);
        timers.insert(timer, pool.due());
    }
    timers.settle();
}

template <typename Timers>
void insert_cancel_recent(benchmark::State& state) {
    auto& among = populated<Timers>(live_of(state));
    while (state.KeepRunningBatch(batch)) {
        recent_batch(among);
    }
}

template <typename Timers>
void insert_cancel_random(benchmark::State& state) {
    auto& among = populated<Timers>(live_of(state));
    while (state.KeepRunningBatch(batch)) {
        random_batch(among);
    }
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(),
                     values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

/// Returns the seconds that a round of `operation` takes.
template <typename Operation>
double round_of(Operation operation) {
    constexpr int batches = 200;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < batches; ++i) {
        operation();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A million live timers, compared with Asio's at the same number and with our own at a thousand.
template <bool Random>
void ratios(benchmark::State& state) {
    auto& many = populated<Wheel>(1'000'000);
    auto& few = populated<Wheel>(1'000);
    auto& peer = populated<SteadyTimer>(1'000'000);
    const auto of = [](auto& among) {
        return round_of([&] { Random ? random_batch(among) : recent_batch(among); });
    };
    for (auto _ : state) {
        std::vector<double> against_peer;
        std::vector<double> against_few;
        for (int i = 0; i < 301; ++i) {
            const double ours = of(many);
            against_peer.push_back(of(peer) / ours);
            against_few.push_back(ours / of(few));
        }
        state.counters["steady_timer/wheel"] = median(against_peer);
        state.counters["wheel_1e6/1e3"] = median(against_few);
    }
}
BENCHMARK(ratios<false>)
    ->Name("insert+cancel, recent: ratios")
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(ratios<true>)
    ->Name("insert+cancel, random: ratios")
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

template <typename Timers>
void insert_expire(benchmark::State& state) {
    const std::size_t live = live_of(state);
    const Duration step = longest * 16 / state.range(0);
    Timers timers{live};
    Pool pool{live};
    TimePoint now = start;
    std::size_t inserted = 0;
    while (state.KeepRunningBatch(state.range(0))) {
        const Duration passed = now - start;
        for (std::size_t i = 0; i < live; ++i) {
            timers.insert(i, pool.due() + passed);
        }
        inserted += live;
        for (const TimePoint end = now + longest + step; now < end;) {
            now += step;
            timers.advance(now);
        }
        if (timers.expired() != inserted) {
            state.SkipWithError("not all timers have expired");
            break;
        }
    }
}

void from_thousand_to_million(benchmark::internal::Benchmark* bench) {
    bench->RangeMultiplier(10)->Range(1'000, 1'000'000);
}

BENCHMARK(insert_cancel_recent<Wheel>)
    ->Name("insert+cancel, recent: TimerWheel")
    ->Apply(from_thousand_to_million);
BENCHMARK(insert_cancel_recent<SteadyTimer>)
    ->Name("insert+cancel, recent: asio::steady_timer")
    ->Apply(from_thousand_to_million);
BENCHMARK(insert_cancel_recent<UnlockedTimer>)
    ->Name("insert+cancel, recent: asio, unlocked")
    ->Apply(from_thousand_to_million);
BENCHMARK(insert_cancel_recent<Multimap>)
    ->Name("insert+cancel, recent: std::multimap")
    ->Apply(from_thousand_to_million);
BENCHMARK(insert_cancel_random<Wheel>)
    ->Name("insert+cancel, random: TimerWheel")
    ->Apply(from_thousand_to_million);
BENCHMARK(insert_cancel_random<SteadyTimer>)
    ->Name("insert+cancel, random: asio::steady_timer")
    ->Apply(from_thousand_to_million);
BENCHMARK(insert_cancel_random<UnlockedTimer>)
    ->Name("insert+cancel, random: asio, unlocked")
    ->Apply(from_thousand_to_million);
BENCHMARK(insert_cancel_random<Multimap>)
    ->Name("insert+cancel, random: std::multimap")
    ->Apply(from_thousand_to_million);
BENCHMARK(insert_expire<Wheel>)->Name("insert+expire: TimerWheel")->Apply(from_thousand_to_million);
BENCHMARK(insert_expire<UnlockedTimer>)
    ->Name("insert+expire: asio, unlocked")
    ->Apply(from_thousand_to_million);
BENCHMARK(insert_expire<Multimap>)
    ->Name("insert+expire: std::multimap")
    ->Apply(from_thousand_to_million);

} // namespace
