// SPDX-License-Identifier: MIT
#include <sessionq/handler_done.hpp>

#include <atomic>
#include <utility>

#include <sessionq/error.hpp>

#include "core/log.hpp"
#include "core/log_events.hpp"
#include "processor/message/handler_faults.hpp"

namespace sessionq::inline v1 {
namespace {

std::exception_ptr failed(const char* why) {
    return std::make_exception_ptr(Error{Errc::handler_failed, why});
}

void tell(std::atomic<std::uint64_t>& faults, const char* what) {
    faults.fetch_add(1, std::memory_order_relaxed);
    core::log_event(LogLevel::error, "processor", core::events::handler_misused, {}, what);
}

} // namespace

class HandlerDone::State {
public:
    State(std::function<void(std::exception_ptr)> end,
          std::shared_ptr<detail::processor::HandlerFaults> faults)
        : end_{std::move(end)}, faults_{std::move(faults)} {}
    ~State() {
        if (take()) {
            tell(faults_->dropped, "a handler's HandlerDone was destroyed and never called; the "
                                   "handler counts as failed");
            end_(failed("its HandlerDone was destroyed and never called"));
        }
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void end(std::exception_ptr error) {
        if (take()) {
            const auto end = std::move(end_); // copies may live on
            end(std::move(error));
        } else {
            tell(faults_->repeated, "a HandlerDone was called again; only the first call counts");
        }
    }

    /// True for the first caller.
    [[nodiscard]] bool take() noexcept { return !ended_.exchange(true, std::memory_order_acq_rel); }

private:
    std::atomic<bool> ended_{false};
    std::function<void(std::exception_ptr)> end_;
    std::shared_ptr<detail::processor::HandlerFaults> faults_;
};

HandlerDone::HandlerDone(std::function<void(std::exception_ptr)> end)
    : HandlerDone{std::move(end), std::make_shared<detail::processor::HandlerFaults>()} {}

HandlerDone::HandlerDone(std::function<void(std::exception_ptr)> end,
                         std::shared_ptr<detail::processor::HandlerFaults> faults)
    : state_{std::make_shared<State>(std::move(end), std::move(faults))} {}

void HandlerDone::operator()() const { state_->end(nullptr); }

void HandlerDone::operator()(std::exception_ptr error) const {
    state_->end(error ? std::move(error) : failed("HandlerDone was called with a null exception"));
}

bool HandlerDone::revoke() const noexcept { return state_->take(); }

} // namespace sessionq::inline v1
