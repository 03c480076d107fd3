#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "core/result.hpp"
#include "core/task.hpp"
#include "in_process/pump.hpp"

namespace sessionq::in_process {

/// Answers that wait for a later turn of the loop, in order. Each is given exactly once: as it is, or as `cancelled` once nobody serves any more.
class Answers final : public Pumped {
public:
    explicit Answers(std::shared_ptr<Pump> pump) : pump_{std::move(pump)} {}

    template <typename T>
    void give(std::function<void(core::Result<T>)> handler, core::Result<T> answer) {
        later([this, handler = std::move(handler), answer = std::move(answer)]() mutable {
            if (is_cancelled_) {
                handler(Failure{.code = Errc::cancelled, .detail = "the endpoint was closed"});
            } else {
                handler(std::move(answer));
            }
        });
    }

    /// Runs `task` in its turn, whatever happens until then but `drop`.
    void later(core::Task task) {
        waiting_.push_back(std::move(task));
        pump_->schedule(*this);
    }

    /// Forgets what waits: nobody may be told any more.
    void drop() noexcept { waiting_.clear(); }

    /// Gives what waits, and whatever comes later, as cancelled; now.
    void cancel() {
        is_cancelled_ = true;
        give_all();
    }

    void turn() override { give_all(); }

private:
    void give_all() {
        for (std::size_t left = waiting_.size(); left > 0 && !waiting_.empty(); --left) { // a handler may cancel the rest
            core::Task give = std::move(waiting_.front());
            waiting_.pop_front();
            give();
        }
    }

    std::shared_ptr<Pump> pump_;
    std::deque<core::Task> waiting_;
    bool is_cancelled_{false};
};

} // namespace sessionq::in_process
