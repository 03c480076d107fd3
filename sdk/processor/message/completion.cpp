// SPDX-License-Identifier: MIT
#include <sessionq/completion.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/log.hpp"
#include "core/log_events.hpp"
#include "processor/message/exception_text.hpp"
#include "processor/message/handler_faults.hpp"

namespace sessionq::inline v1 {
namespace {

std::exception_ptr handler_failed(const char* why) {
    return detail::processor::to_exception({.code = Errc::handler_failed, .detail = why});
}

void tell_misuse(std::atomic<std::uint64_t>& faults, const char* what) {
    faults.fetch_add(1, std::memory_order_relaxed);
    core::log_event(LogLevel::error, "processor", core::events::handler_misused, {}, what);
}

} // namespace

/// The end of one handler. The last `Completion` destroys it.
class Completion::State {
public:
    State(Callback<void(std::exception_ptr)> end,
          std::shared_ptr<detail::processor::HandlerFaults> faults)
        : end_{std::move(end)}, faults_{std::move(faults)} {}
    ~State() {
        if (take()) {
            tell_misuse(faults_->dropped, "a handler's Completion was destroyed and never used; "
                                          "the handler counts as failed");
            end_(handler_failed("its Completion was destroyed and never used"));
        }
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    /// Returns false if the handler has ended before.
    [[nodiscard]] bool end(std::exception_ptr error) {
        if (!take()) {
            return false;
        }
        const auto end = std::exchange(end_, nullptr); // this object may live on
        end(std::move(error));
        return true;
    }

    /// True for the first caller.
    [[nodiscard]] bool take() noexcept { return !ended_.exchange(true, std::memory_order_acq_rel); }
    [[nodiscard]] bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire); }

private:
    std::atomic<bool> ended_{false};
    Callback<void(std::exception_ptr)> end_;
    std::shared_ptr<detail::processor::HandlerFaults> faults_;
};

Completion::Completion(Callback<void(std::exception_ptr)> end)
    : Completion{std::move(end), std::make_shared<detail::processor::HandlerFaults>()} {}

Completion::Completion(Callback<void(std::exception_ptr)> end,
                       std::shared_ptr<detail::processor::HandlerFaults> faults)
    : state_{std::make_shared<State>(std::move(end), faults)}, faults_{std::move(faults)} {}

void Completion::done() const { end(nullptr); }

void Completion::failed(Failure failure) const {
    end(detail::processor::to_exception(std::move(failure)));
}

void Completion::failed(std::exception_ptr error) const {
    end(error ? std::move(error)
              : handler_failed("its Completion was told of a failure with a null exception"));
}

Completion::operator bool() const noexcept { return state_ != nullptr && !state_->has_ended(); }

void Completion::end(std::exception_ptr error) const {
    const std::shared_ptr<State> state = state_; // the end may destroy this object
    if (state != nullptr && state->end(std::move(error))) {
        return;
    }
    if (faults_ != nullptr) {
        tell_misuse(faults_->repeated, "a Completion was used again; only the first call counts");
    }
}

Completion Completion::share() const {
    Completion other;
    other.state_ = state_;
    other.faults_ = faults_;
    return other;
}

bool Completion::revoke() const noexcept { return state_->take(); }

} // namespace sessionq::inline v1
