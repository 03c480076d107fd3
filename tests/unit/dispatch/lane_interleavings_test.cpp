// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <iostream>
#include <utility>
#include <vector>

#include "dispatch/dispatcher.hpp"
#include "dispatch/sleepers.hpp"
#include "support/interleaving.hpp"

using namespace sessionq;
using namespace sessionq::dispatch;
using namespace sessionq::test;

namespace {

constexpr TimePoint now{std::chrono::hours{1}};

struct ModelSemaphore {
    void release() {
        interleaving::point();
        ++tokens;
    }
    void acquire() {
        interleaving::point();
        interleaving::wait_until([this] { return tokens > 0; });
        --tokens;
    }

    int tokens{0};
};

struct ModelSync {
    template <typename T>
    using Atomic = interleaving::Atomic<T>;
    using Lock = interleaving::Mutex;
    using Semaphore = ModelSemaphore;
};

/// One lane, its calls, and what must hold of them. Scripts call the members. The books change in
/// the same step as the event they record.
template <typename Sync>
class Scene {
public:
    using Lane = BasicLane<Sync>;

    struct Worker {
        typename BasicDispatcher<Sync>::Turn turn{};
        Call* call{nullptr};
    };

    class NumberedCall final : public Call {
    public:
        Verdict run() noexcept override {
            if (!scene->begins(*this)) {
                return Verdict::proceed;
            }
            scene->started(number);
            interleaving::point(); // a handler takes time
            if (holds) {
                scene->in_use_.hold(1);
            }
            scene->ended();
            return Verdict::proceed;
        }

        Scene* scene{nullptr};
        int number{0};
        bool holds{false};
    };

    Scene(interleaving::Run& run, unsigned max_calls, bool in_order)
        : run_{run},
          max_calls_{max_calls},
          in_order_{in_order},
          lane_{dispatcher_.make_lane(max_calls, in_order)} {
        dispatcher_.set_wake([this](std::size_t work) { sleepers_.wake(work); });
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            calls_[i].scene = this;
            calls_[i].number = static_cast<int>(i);
        }
    }

    // For the home thread.
    void push(std::size_t number) {
        ++pushed_;
        lane_->push(calls_[number]);
    }
    void push_and_flush(std::size_t number) {
        push(number);
        dispatcher_.flush();
    }
    void pause() { lane_->pause(); }
    void resume() { lane_->resume(); }
    void release() { lane_->release(); }
    void push_front(std::size_t number) {
        calls_[number].holds = false;
        ++pushed_;
        lane_->put_back(calls_[number]);
        expected_front_ = static_cast<int>(number);
    }
    /// Between a pause and its end waiting calls stay, in order.
    void take_back_paused() {
        const std::size_t waiting = lane_->waiting();
        interleaving::point();
        core::IntrusiveList<Call, dispatch::Lane> out;
        run_.expect(lane_->take_back(out) == waiting, "a call started during a pause");
        int last = -1;
        while (Call* call = out.pop_front()) {
            const int number = static_cast<NumberedCall*>(call)->number;
            run_.expect(number > last, "calls are given back out of order");
            last = number;
            ++taken_back_;
        }
    }
    void set_max_calls(unsigned max_calls) {
        max_calls_ = std::max(max_calls_, max_calls);
        lane_->set_max_calls(max_calls);
    }
    void give_up() { lane_.reset(); }

    // For workers.
    void run_first(std::size_t pushed) {
        for (std::size_t i = 0; i < pushed; ++i) {
            push(i);
        }
        first_.call = dispatcher_.take(first_.turn, now);
    }
    void run_second() { second_.call = dispatcher_.take(second_.turn, now); }
    void first_goes_on() { go_on(first_); }
    void first_ends() { end(first_); }
    void second_ends() { end(second_); }
    void second_works() { work(second_); }
    /// The first worker's call takes what waits, and then ends.
    void first_takes_more() {
        static_cast<void>(first_.call->run());
        lane_->take_more([this](Call& call) {
            ++ran_;
            if (max_calls_ == 1) {
                in_order(static_cast<NumberedCall&>(call).number);
            }
            return true;
        });
        first_.call = dispatcher_.finish(first_.turn, Verdict::proceed, now);
        go_on(first_);
    }
    /// Works until `count` calls have run, and sleeps when there is no work. With `looks_again` it
    /// looks for work before it sleeps.
    void work_until(int count, bool looks_again = true) {
        Worker worker;
        for (work(worker); ran_ < count; work(worker)) {
            sleepers_.announce();
            if (looks_again && (dispatcher_.has_work() || ran_ >= count)) {
                sleepers_.cancel();
            } else {
                sleepers_.sleep();
            }
        }
        sleepers_.wake_all(); // the other workers must see the end
    }

    void announce() { sleepers_.announce(); }
    void wait_for_wake() { sleepers_.sleep(); }
    /// For the thread that adds workers: it takes no work.
    void look() { static_cast<void>(dispatcher_.has_work()); }

    [[nodiscard]] bool one_ended() const { return ran_ > running_; }
    void hold(std::size_t number) { calls_[number].holds = true; }

    /// After all scripts: a worker runs the remaining calls, then the books are checked.
    void settle() {
        for (Call* call : given_back_) {
            lane_->put_back(*call);
            lane_->release();
        }
        go_on(first_);
        work(second_);
        run_.expect(ran_ + taken_back_ == pushed_,
                    "a lane is forgotten: a call waits and no worker comes");
        run_.expect(dispatcher_.active_calls() == 0, "the count of active calls is off");
        run_.expect(dispatcher_.ready_lanes() == 0, "a lane is left in the queue");
        if (lane_) {
            run_.expect(lane_->active() == 0 && lane_->waiting() == 0, "the lane's counts are off");
        }
    }
    void settle_given_up() {
        go_on(first_);
        work(second_);
        run_.expect(dispatcher_.active_calls() == 0 && dispatcher_.ready_lanes() == 0,
                    "a lane that was given up left something behind");
    }

private:
    void work(Worker& worker) {
        worker.call = dispatcher_.take(worker.turn, now);
        if (worker.call != nullptr) {
            go_on(worker);
        }
    }
    void go_on(Worker& worker) {
        while (worker.call != nullptr) {
            const Verdict verdict = worker.call->run();
            worker.call = dispatcher_.finish(worker.turn, verdict, now);
        }
    }
    void end(Worker& worker) {
        dispatcher_.finish_last(worker.turn, std::exchange(worker.call, nullptr)->run());
    }

    /// In order, no other call is taken before this one has told that it starts, or that it does
    /// not.
    bool begins(NumberedCall& call) {
        const int before = last_;
        if (in_order_) {
            in_order(call.number);
        }
        if (dispatcher_.begin(in_use_, call)) {
            return true;
        }
        last_ = before;
        given_back_.push_back(&call);
        in_use_.hold(1);
        dispatcher_.skip(in_use_, call);
        return false;
    }
    void started(int number) {
        ++running_;
        ++ran_;
        run_.expect(running_ <= static_cast<int>(max_calls_), "more calls run than may");
        if (max_calls_ == 1) {
            in_order(number);
        }
    }
    void in_order(int number) {
        const bool retry = expected_front_ == number;
        run_.expect(retry || expected_front_ < 0, "a call overtook the one put back before it");
        run_.expect(retry || number > last_, "calls run out of order or twice");
        expected_front_ = -1;
        last_ = std::max(last_, number);
    }
    void ended() { --running_; }

    interleaving::Run& run_;
    BasicSleepers<Sync> sleepers_;
    BasicDispatcher<Sync> dispatcher_;
    std::array<NumberedCall, 4> calls_;
    Worker first_;
    Worker second_;
    unsigned max_calls_;
    const bool in_order_;
    BasicLanePtr<Sync> lane_;
    Lane& in_use_{*lane_}; // it lives while a call of it is active, also if it was given up
    std::vector<Call*> given_back_{}; ///< not started: the lane was paused meanwhile
    int pushed_{0};
    int ran_{0};
    int taken_back_{0};
    int running_{0};
    int last_{-1};
    int expected_front_{-1};
};

template <typename Sync = ModelSync>
struct Case {
    using S = Scene<Sync>;
    using Script = std::function<void(S&)>;

    const char* name;
    unsigned max_calls;
    Script before;
    std::vector<Script> scripts;
    bool gives_up{false};
    bool in_order{false};

    [[nodiscard]] interleaving::Outcome explore() const {
        return interleaving::explore([this](interleaving::Run& run) {
            S scene{run, max_calls, in_order};
            before(scene);
            for (const Script& script : scripts) {
                run.thread([&] { script(scene); });
            }
            if (run.execute()) {
                gives_up ? scene.settle_given_up() : scene.settle();
            }
        });
    }
};

/// Pushes `count` calls; the first worker takes call 0.
template <std::size_t pushed>
constexpr auto running_first = [](auto& scene) { scene.run_first(pushed); };
constexpr auto first_goes_on = [](auto& scene) { scene.first_goes_on(); };
constexpr auto first_takes_more = [](auto& scene) { scene.first_takes_more(); };
constexpr auto first_ends = [](auto& scene) { scene.first_ends(); };
constexpr auto second_ends = [](auto& scene) { scene.second_ends(); };
constexpr auto second_works = [](auto& scene) { scene.second_works(); };

/// A deliberate defect: goes idle without checking whether a call was pushed in the meantime.
struct ForgetfulSync : ModelSync {
    template <typename T>
    struct Atomic : interleaving::Atomic<T> {
        using interleaving::Atomic<T>::Atomic;

        bool compare_exchange_strong(T&, T desired, std::memory_order, std::memory_order) {
            this->store(desired);
            return true;
        }
    };
};

/// A deliberate defect: empties the inbox in two steps.
struct TornSync : ModelSync {
    template <typename T>
    struct Atomic : interleaving::Atomic<T> {
        using interleaving::Atomic<T>::Atomic;

        T exchange(T value, std::memory_order) {
            const T found = this->load();
            this->store(value);
            return found;
        }
    };
};

} // namespace

TEST_CASE("lane: R6, R7: limits and order hold and no lane is forgotten, in every interleaving of "
          "small cases") {
    using C = Case<>;
    const C cases[] = {
        {"k=1: push | take+finish",
         1,
         [](auto& s) { s.push(0); },
         {[](auto& s) { s.push(1); }, second_works}},
        {"k=1: push push | finish",
         1,
         running_first<1>,
         {[](auto& s) {
              s.push(1);
              s.push(2);
          },
          first_goes_on}},
        {"k=1: push | finish | take",
         1,
         running_first<1>,
         {[](auto& s) { s.push(1); }, first_ends, second_works}},
        {"k=1: push pause take_back resume | finish",
         1,
         running_first<1>,
         {[](auto& s) {
              s.push(1);
              s.pause();
              s.take_back_paused();
              s.resume();
          },
          first_goes_on}},
        {"k=1: pause take_back resume | finish",
         1,
         running_first<2>,
         {[](auto& s) {
              s.pause();
              s.take_back_paused();
              s.resume();
          },
          first_goes_on}},
        {"k=1: pause push resume | take+finish",
         1,
         [](auto& s) { s.push(0); },
         {[](auto& s) {
              s.pause();
              s.push(1);
              s.resume();
          },
          second_works}},
        {"k=1: push push | take_more finish",
         1,
         running_first<1>,
         {[](auto& s) {
              s.push(1);
              s.push(2);
          },
          first_takes_more}},
        {"k=1: pause take_back resume | take_more finish",
         1,
         running_first<2>,
         {[](auto& s) {
              s.pause();
              s.take_back_paused();
              s.resume();
          },
          first_takes_more}},
        {"k=2: take_more finish | take+finish",
         2,
         running_first<3>,
         {first_takes_more, second_works}},
        {"k=1: push_front release | finish with a hold",
         1,
         [](auto& s) {
             s.hold(0);
             s.run_first(2);
         },
         {[](auto& s) {
              interleaving::wait_until([&s] {
                  return s.one_ended();
              }); // learns of the failure from the call, before the worker reports it
              s.push_front(0);
              s.release();
          },
          first_goes_on}},
        {"k=2: push push | finish",
         2,
         running_first<1>,
         {[](auto& s) {
              s.push(1);
              s.push(2);
          },
          first_goes_on}},
        {"k=2: push | finish | take",
         2,
         running_first<1>,
         {[](auto& s) { s.push(1); }, first_ends, second_works}},
        {"k=2: push | finish", 2, running_first<1>, {[](auto& s) { s.push(1); }, first_goes_on}},
        {"k=2: push | take+finish, one running",
         2,
         running_first<1>,
         {[](auto& s) { s.push(1); }, second_works}},
        {"k=2: finish | take+finish", 2, running_first<2>, {first_ends, second_works}},
        {"k=2: two workers finish",
         2,
         [](auto& s) {
             s.run_first(3);
             s.run_second();
         },
         {first_ends, second_ends}},
        {"k=2: pause take_back resume | take+finish, one running",
         2,
         running_first<2>,
         {[](auto& s) {
              s.pause();
              s.take_back_paused();
              s.resume();
          },
          second_works}},
        {"k=1 to 2: set_max_calls | finish",
         1,
         running_first<3>,
         {[](auto& s) { s.set_max_calls(2); }, first_ends}},
        {"k=2, in order: finish | take+finish",
         2,
         running_first<2>,
         {first_ends, second_works},
         false,
         true},
        {"k=2, in order: push | take+finish, one running",
         2,
         running_first<1>,
         {[](auto& s) { s.push(1); }, second_works},
         false,
         true},
        {"k=2, in order: pause resume | take+finish, one running",
         2,
         running_first<2>,
         {[](auto& s) {
              s.pause();
              s.resume();
          },
          second_works},
         false,
         true},
        {"k=1: given up | finish",
         1,
         running_first<2>,
         {[](auto& s) { s.give_up(); }, first_goes_on},
         true},
        {"k=1: given up | take+finish",
         1,
         [](auto& s) { s.push(0); },
         {[](auto& s) { s.give_up(); }, second_works},
         true},
        {"k=2: given up | take+finish, one running",
         2,
         running_first<2>,
         {[](auto& s) { s.give_up(); }, second_works},
         true},
    };
    std::uint64_t total = 0;
    for (const C& each : cases) {
        CAPTURE(each.name);
        const auto outcome = each.explore();
        CHECK_MESSAGE(outcome.passed(), outcome.to_string());
        std::cout << "lane, " << each.name << ": " << outcome.interleavings << " interleavings\n";
        total += outcome.interleavings;
    }
    std::cout << "lane: " << total << " interleavings in all\n";
}

TEST_CASE("lane: DG4: no wake-up is lost in any interleaving of small cases") {
    using C = Case<>;
    const auto nothing = [](auto&) {};
    const C cases[] = {
        {"push+flush | worker",
         1,
         nothing,
         {[](auto& s) { s.push_and_flush(0); }, [](auto& s) { s.work_until(1); }}},
        {"push+flush | worker, one running",
         1,
         running_first<1>,
         {[](auto& s) { s.push_and_flush(1); },
          [](auto& s) {
              s.first_goes_on();
              s.work_until(2);
          }}},
        {"push+flush | worker that sleeps | one that only looks",
         1,
         [](auto& s) { s.announce(); },
         {[](auto& s) { s.push_and_flush(0); }, [](auto& s) { s.wait_for_wake(); },
          [](auto& s) { s.look(); }}},
    };
    for (const C& each : cases) {
        CAPTURE(each.name);
        const auto outcome = each.explore();
        CHECK_MESSAGE(outcome.passed(), outcome.to_string());
        std::cout << "sleep, " << each.name << ": " << outcome.interleavings << " interleavings\n";
    }
}

TEST_CASE("lane: the exploration catches deliberate defects") {
    SUBCASE("forgets a lane") {
        const Case<ForgetfulSync> forgetful{
            "", 1, running_first<1>, {[](auto& s) { s.push(1); }, first_goes_on}};
        CHECK(forgetful.explore().violation ==
              "a lane is forgotten: a call waits and no worker comes");
    }
    SUBCASE("loses calls pushed while the inbox is emptied") {
        const Case<TornSync> torn{"",
                                  1,
                                  [](auto& s) {
                                      s.run_first(1);
                                      s.push(1);
                                  },
                                  {[](auto& s) { s.push(2); }, first_goes_on}};
        CHECK(torn.explore().violation == "a lane is forgotten: a call waits and no worker comes");
    }
    SUBCASE("sleeps without looking again") {
        const Case<> hasty{
            "",
            1,
            [](auto&) {},
            {[](auto& s) { s.push_and_flush(0); }, [](auto& s) { s.work_until(1, false); }}};
        CHECK(hasty.explore().violation == "deadlock");
    }
}
