// SPDX-License-Identifier: MIT
#include "dispatch/dispatcher.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/random.hpp"

using namespace sessionq;
using namespace sessionq::dispatch;
using namespace std::chrono_literals;

namespace {

struct ModelCall final : Call {
    Verdict run() noexcept override { return Verdict::proceed; }

    std::size_t lane{0};
    std::uint64_t number{0};
};

/// What must hold of one lane.
struct LaneBook {
    LanePtr lane{};
    unsigned max_calls{1};
    unsigned active{0};
    bool paused{false};
    unsigned holds{0};
    std::deque<ModelCall*> waiting{};    // in the order in which they must start
    std::vector<ModelCall*> suspended{}; // started, but without a worker
    std::vector<ModelCall*> failed{};    // these hold the lane until the home thread decides
    std::uint64_t turns_of_others{0};    // turns since the lane could start a call and started none

    [[nodiscard]] bool ready() const {
        return !waiting.empty() && !paused && holds == 0 && active < max_calls;
    }
};

struct Worker {
    Dispatcher::Turn turn{};
    ModelCall* call{nullptr};
    unsigned calls_in_turn{0};
    TimePoint began{};
};

/// Drives a dispatcher with random steps of home threads and workers, and checks each answer
/// against its books.
class Model {
public:
    explicit Model(std::uint64_t seed) : random_{seed} {
        max_calls_ = random_.below(3) == 0 ? static_cast<unsigned>(1 + random_.below(4)) : 0;
        options_ = {.max_calls = max_calls_,
                    .quantum_calls = static_cast<unsigned>(1 + random_.below(4)),
                    .quantum_time = 5ms};
        dispatcher_ = std::make_unique<Dispatcher>(options_);
        lanes_.resize(2 + random_.below(5));
        for (LaneBook& book : lanes_) {
            book.max_calls =
                random_.below(2) == 0 ? 1 : static_cast<unsigned>(1 + random_.below(3));
            book.lane = dispatcher_->make_lane(book.max_calls);
        }
        workers_.resize(1 + random_.below(4));
    }

    /// The first violation; empty if there is none.
    std::string play(int steps) {
        for (int i = 0; i < steps && violation_.empty(); ++i) {
            now_ += std::chrono::milliseconds{random_.below(3)};
            step();
            audit();
        }
        wind_down();
        return violation_;
    }

    [[nodiscard]] std::uint64_t started() const { return started_; }

private:
    void expect(bool holds, const char* what) {
        if (!holds && violation_.empty()) {
            violation_ = what;
        }
    }

    LaneBook& any_lane() { return lanes_[random_.below(lanes_.size())]; }

    void step() {
        switch (random_.below(12)) {
        case 0:
        case 1:
        case 2: push(any_lane()); break;
        case 3: pause_or_resume(any_lane()); break;
        case 4: take_back(any_lane()); break;
        case 5: change_limit(any_lane()); break;
        case 6: change_cap(); break;
        case 7: end_suspended(any_lane(), random_.below(4) == 0); break;
        case 8: decide_failed(any_lane()); break;
        default: work(workers_[random_.below(workers_.size())]); break;
        }
    }

    void push(LaneBook& book) {
        for (std::uint64_t count = 1 + random_.below(6); count > 0; --count) {
            ModelCall& call = calls_.emplace_back();
            call.lane = static_cast<std::size_t>(&book - lanes_.data());
            call.number = ++numbers_;
            book.waiting.push_back(&call);
            book.lane->push(call);
        }
        dispatcher_->flush();
    }

    void pause_or_resume(LaneBook& book) {
        book.paused = !book.paused;
        book.paused ? book.lane->pause() : book.lane->resume();
    }

    void take_back(LaneBook& book) {
        if (random_.below(4) != 0) {
            return;
        }
        core::IntrusiveList<Call, Lane> out;
        const std::size_t count = book.lane->take_back(out);
        expect(count == book.waiting.size(), "take_back gives what waits");
        while (Call* call = out.pop_front()) {
            expect(!book.waiting.empty() && call == book.waiting.front(),
                   "take_back keeps the order");
            if (!book.waiting.empty()) {
                book.waiting.pop_front();
            }
        }
    }

    void change_limit(LaneBook& book) {
        book.max_calls = static_cast<unsigned>(1 + random_.below(3));
        book.lane->set_max_calls(book.max_calls);
    }

    void change_cap() {
        max_calls_ = static_cast<unsigned>(random_.below(5));
        dispatcher_->set_max_calls(max_calls_);
    }

    void end_suspended(LaneBook& book, bool holds) {
        if (book.suspended.empty()) {
            return;
        }
        ModelCall* call = book.suspended.back();
        book.suspended.pop_back();
        ended(*call, holds);
        dispatcher_->finish_suspended(*book.lane);
    }

    /// The home thread handles a failure: it retries in place or gives up.
    void decide_failed(LaneBook& book) {
        if (book.failed.empty()) {
            return;
        }
        ModelCall* call = book.failed.back();
        book.failed.pop_back();
        if (random_.below(2) == 0) {
            book.waiting.insert(
                std::ranges::lower_bound(book.waiting, call->number, {}, &ModelCall::number), call);
            book.lane->put_back(*call);
        }
        --book.holds;
        book.lane->release();
    }

    void work(Worker& worker) {
        if (worker.call == nullptr) {
            began(worker, dispatcher_->take(worker.turn, now_), true);
            return;
        }
        ModelCall& call = *worker.call;
        LaneBook& book = lanes_[call.lane];
        const std::uint64_t what = random_.below(8);
        if (what == 0) { // it suspends; sometimes it ends before the worker reports that
            book.suspended.push_back(&call);
            if (random_.below(4) == 0) {
                end_suspended(book, false);
            }
            began(worker, dispatcher_->finish(worker.turn, Verdict::suspended, now_), true);
            return;
        }
        // The cap was lowered, so turns end.
        const bool over_cap = max_calls_ != 0 && total_active() > max_calls_;
        ended(call, what == 1);
        ++worker.calls_in_turn;
        const bool turn_over = worker.calls_in_turn >= options_.quantum_calls ||
                               now_ - worker.began >= options_.quantum_time;
        const bool may_go_on = !turn_over && !over_cap && book.ready();
        worker.call = nullptr;
        if (what == 2) {
            dispatcher_->finish_last(worker.turn, Verdict::proceed);
        } else if (what == 3) {
            Call* next = dispatcher_->finish_in_turn(worker.turn, Verdict::proceed, now_);
            expect((next != nullptr) == may_go_on,
                   "a turn goes on exactly while its quantum lasts and there is more");
            began(worker, next, false);
        } else {
            Call* next = dispatcher_->finish(worker.turn, Verdict::proceed, now_);
            const bool same_turn =
                may_go_on && next != nullptr && static_cast<ModelCall*>(next)->lane == call.lane;
            expect(same_turn || !may_go_on,
                   "a turn goes on while its quantum lasts and there is more");
            began(worker, next, !same_turn);
        }
    }

    void ended(ModelCall& call, bool holds) {
        LaneBook& book = lanes_[call.lane];
        --book.active;
        if (holds) {
            book.lane->hold(1);
            ++book.holds;
            book.failed.push_back(&call);
        }
    }

    void began(Worker& worker, Call* next, bool new_turn) {
        worker.call = static_cast<ModelCall*>(next);
        if (next == nullptr) {
            const bool capped = max_calls_ != 0 && total_active() >= max_calls_;
            expect(!new_turn || capped || std::ranges::none_of(lanes_, &LaneBook::ready),
                   "a worker found nothing although a lane is ready");
            return;
        }
        ModelCall& call = *worker.call;
        LaneBook& book = lanes_[call.lane];
        expect(!new_turn || max_calls_ == 0 || total_active() < max_calls_,
               "a call starts beyond the cap");
        expect(book.ready(), "a call starts in a lane that may start none");
        expect(!book.waiting.empty() && book.waiting.front() == &call,
               "calls start in order, each once");
        if (!book.waiting.empty()) {
            book.waiting.pop_front();
        }
        ++book.active;
        ++started_;
        if (new_turn) {
            worker.calls_in_turn = 0;
            worker.began = now_;
            for (LaneBook& other : lanes_) {
                other.turns_of_others += &other != &book && other.ready() ? 1 : 0;
                expect(other.turns_of_others < lanes_.size(),
                       "a ready lane waits longer than a turn of every other");
            }
            book.turns_of_others = 0;
        }
    }

    [[nodiscard]] unsigned total_active() const {
        unsigned total = 0;
        for (const LaneBook& book : lanes_) {
            total += book.active;
        }
        return total;
    }

    void audit() {
        for (LaneBook& book : lanes_) {
            expect(book.lane->active() == book.active, "active() counts what is active");
            expect(book.lane->waiting() == book.waiting.size(), "waiting() counts what waits");
            book.turns_of_others = book.ready() ? book.turns_of_others : 0;
        }
        expect(dispatcher_->active_calls() == total_active(), "the cap counts what is active");
    }

    /// Lifts every limit and lets all calls end: every pushed call has run or was taken back.
    void wind_down() {
        for (LaneBook& book : lanes_) {
            while (!book.suspended.empty()) {
                end_suspended(book, false);
            }
            if (book.paused) {
                pause_or_resume(book);
            }
        }
        dispatcher_->set_max_calls(max_calls_ = 0);
        for (bool busy = true; busy && violation_.empty();) {
            busy = false;
            for (Worker& worker : workers_) {
                work(worker);
                audit();
                busy = busy || worker.call != nullptr;
            }
            for (LaneBook& book : lanes_) {
                while (!book.suspended.empty()) {
                    end_suspended(book, false);
                }
                while (!book.failed.empty()) {
                    decide_failed(book);
                }
                busy = busy || !book.waiting.empty();
            }
            // One worker's turn may have drained a lane that is still queued for another.
            busy = busy || dispatcher_->ready_lanes() > 0;
        }
        expect(total_active() == 0, "nothing is left at the end");
    }

    core::Random random_;
    Dispatcher::Options options_{};
    unsigned max_calls_{0};
    std::unique_ptr<Dispatcher> dispatcher_;
    std::deque<ModelCall> calls_; // outlives the lanes
    std::vector<LaneBook> lanes_;
    std::vector<Worker> workers_;
    TimePoint now_{1h};
    std::uint64_t numbers_{0};
    std::uint64_t started_{0};
    std::string violation_;
};

} // namespace

TEST_CASE("dispatcher: R6, R7, R14: agrees with its books under random use") {
    std::uint64_t started = 0;
    for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
        CAPTURE(seed);
        Model model{seed};
        REQUIRE(model.play(300) == "");
        started += model.started();
    }
    CHECK(started > 1'000'000);
}
