// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "dispatch/dispatcher.hpp"

namespace sessionq::test {

using dispatch::Call;
using dispatch::Dispatcher;
using dispatch::Lane;
using dispatch::LanePtr;
using dispatch::Verdict;

/// How a call ends.
enum class Says { proceed, hold, suspended };

/// A named call that ends as it is told.
class NamedCall final : public Call {
public:
    explicit NamedCall(std::string name, Says says = Says::proceed)
        : name_{std::move(name)}, says_{says} {}

    Verdict run() noexcept override {
        ++runs_;
        if (says_ == Says::hold) {
            lane->hold(1);
        }
        return says_ == Says::suspended ? Verdict::suspended : Verdict::proceed;
    }

    void say(Says says) noexcept { says_ = says; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] int runs() const noexcept { return runs_; }

    Lane* lane{nullptr};

private:
    std::string name_;
    Says says_;
    int runs_{0};
};

/// Owns named calls and drives a dispatcher as workers would, one step at a time, on this thread.
class Steps {
public:
    static constexpr TimePoint start{std::chrono::hours{1}};

    explicit Steps(Dispatcher::Options options = {}) : dispatcher{options} {}

    /// Ends the calls that a test left running: a lane lives while a call of it is active.
    ~Steps() {
        for (const NamedCall* call : running_) {
            dispatcher.finish_suspended(*call->lane);
        }
    }
    Steps(const Steps&) = delete;
    Steps& operator=(const Steps&) = delete;

    /// Makes calls and pushes them.
    void push(Lane& lane, std::initializer_list<const char*> names, Says says = Says::proceed) {
        for (const char* name : names) {
            NamedCall& made = make(name, says);
            made.lane = &lane;
            lane.push(made);
        }
    }

    NamedCall& make(std::string name, Says says = Says::proceed) {
        return calls.emplace_back(std::move(name), says);
    }

    [[nodiscard]] NamedCall& call(std::string_view name) {
        for (NamedCall& each : calls) {
            if (each.name() == name) {
                return each;
            }
        }
        throw std::out_of_range{std::string{name}};
    }

    /// The names of the calls that one worker runs until it finds none, separated by spaces.
    std::string run_all() {
        Dispatcher::Turn turn;
        std::string order;
        for (auto* next = take(turn); next != nullptr; next = finish(turn, *next)) {
            order.append(order.empty() ? "" : " ").append(next->name());
        }
        return order;
    }

    NamedCall* take(Dispatcher::Turn& turn) { return began(dispatcher.take(turn, now)); }
    NamedCall* finish(Dispatcher::Turn& turn, NamedCall& running) {
        return finish(turn, running, running.run());
    }
    NamedCall* finish(Dispatcher::Turn& turn, NamedCall& running, Verdict verdict) {
        if (verdict != Verdict::suspended) {
            ended(running.lane);
        }
        return began(dispatcher.finish(turn, verdict, now));
    }
    NamedCall* finish_in_turn(Dispatcher::Turn& turn, NamedCall& running) {
        ended(running.lane);
        return began(dispatcher.finish_in_turn(turn, running.run(), now));
    }
    void finish_last(Dispatcher::Turn& turn, NamedCall& running) {
        ended(running.lane);
        dispatcher.finish_last(turn, running.run());
    }
    void finish_suspended(Lane& lane) {
        ended(&lane);
        dispatcher.finish_suspended(lane);
    }

    /// The names of the calls that a lane gives back.
    static std::string take_back(Lane& lane) {
        core::IntrusiveList<Call, Lane> out;
        std::string names;
        const std::size_t count = lane.take_back(out);
        std::size_t listed = 0;
        while (Call* call = out.pop_front()) {
            names.append(names.empty() ? "" : " ").append(static_cast<NamedCall*>(call)->name());
            ++listed;
        }
        return count == listed ? names : "count differs";
    }

    std::deque<NamedCall> calls{};
    Dispatcher dispatcher;
    TimePoint now{start};

private:
    NamedCall* began(Call* call) {
        auto* started = static_cast<NamedCall*>(call);
        if (started != nullptr) {
            running_.push_back(started);
        }
        return started;
    }
    void ended(const Lane* lane) {
        running_.erase(std::ranges::find(running_, lane, &NamedCall::lane));
    }

    std::vector<NamedCall*> running_{};
};

/// The name of a call; "-" for none.
inline std::string name_of(const NamedCall* call) { return call != nullptr ? call->name() : "-"; }

} // namespace sessionq::test
