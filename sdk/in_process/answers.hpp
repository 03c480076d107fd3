#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "broker/journal.hpp"
#include "core/result.hpp"
#include "core/task.hpp"
#include "in_process/pump.hpp"

namespace sessionq::in_process {

/// Answers that wait for a later turn of the loop, in order. Each is given exactly once: as it is,
/// or as `cancelled` once nobody serves any more.
class Answers final : public Pumped {
public:
    /// Null: what could be lost is not.
    using WhenKept = std::function<void(const Failure* why)>;

    /// Without a journal everything is as durable as it gets. It lives as long as something may be
    /// held.
    explicit Answers(std::shared_ptr<Pump> pump, broker::Journal* journal = nullptr)
        : pump_{std::move(pump)}, journal_{journal} {}

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

    /// The same of an answer that confirms a change: once what happened so far is kept, or could
    /// not be.
    template <typename T>
    void confirm(std::function<void(core::Result<T>)> handler, core::Result<T> answer) {
        if (journal_ == nullptr || !answer) {
            give<T>(std::move(handler), std::move(answer));
            return;
        }
        hold([this, handler = std::move(handler), answer = std::move(answer)](const Failure* why) {
            if (is_cancelled_) {
                handler(Failure{.code = Errc::cancelled, .detail = "the endpoint was closed"});
            } else if (why != nullptr) {
                handler(*why);
            } else {
                handler(answer);
            }
        });
    }

    /// Runs `action` when what happened so far is kept, or could not be; or when this is cancelled.
    /// Only with a journal.
    void hold(WhenKept action);

    /// Runs `task` in its turn, whatever happens until then but `drop`.
    void later(core::Task task) {
        waiting_.push_back(std::move(task));
        pump_->schedule(*this);
    }

    /// Forgets what waits: nobody may be told any more.
    void drop() noexcept {
        waiting_.clear();
        held_.clear();
    }

    /// Gives what waits, and whatever comes later, as cancelled; now.
    void cancel() {
        is_cancelled_ = true;
        give_all();
        for (const auto& [number, action] : std::exchange(held_, {})) {
            action(nullptr);
        }
    }

    void turn() override { give_all(); }

private:
    class Commit;

    void give_all() {
        for (std::size_t left = waiting_.size(); left > 0 && !waiting_.empty();
             --left) { // a handler may cancel the rest
            core::Task give = std::move(waiting_.front());
            waiting_.pop_front();
            give();
        }
    }

    std::shared_ptr<Pump> pump_;
    broker::Journal* const journal_;
    std::map<std::uint64_t, WhenKept> held_; // by number, which rises
    std::uint64_t last_held_{0};
    std::deque<core::Task> waiting_;
    bool is_cancelled_{false};
};

} // namespace sessionq::in_process
