// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/looker.hpp"

#include <exception>
#include <utility>

#include "core/clock.hpp"
#include "tools/sessionq/live/look_pace.hpp"

namespace sessionq::cli {

Looker::Looker(LiveSubject& subject, Duration interval, std::function<void()> on_result)
    : subject_{subject},
      interval_{interval},
      on_result_{std::move(on_result)},
      thread_{[this](std::stop_token stop) { run(std::move(stop)); }} {}

Looker::~Looker() = default;

bool Looker::stop(Duration wait) {
    thread_.request_stop();
    std::unique_lock lock{mutex_};
    return wake_.wait_for(lock, wait, [this] { return has_ended_; });
}

std::optional<LookResult> Looker::take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(result_, std::nullopt);
}

void Looker::run(std::stop_token stop) {
    while (!stop.stop_requested()) {
        const TimePoint began = core::system_clock().now();
        LookResult result = look(stop);
        const Duration pause = pause_after(core::system_clock().now() - began, interval_);
        std::unique_lock lock{mutex_};
        result_ = std::move(result);
        lock.unlock();
        on_result_();
        lock.lock();
        wake_.wait_for(lock, stop, pause, [] { return false; });
    }
    const std::lock_guard lock{mutex_};
    has_ended_ = true;
    wake_.notify_all();
}

LookResult Looker::look(const std::stop_token& stop) {
    try {
        subject_.look(stop);
        return {.report = subject_.report()};
    } catch (const Error& error) {
        return {.failure = error.what(),
                .mistake = is_mistake(error) ? std::current_exception() : nullptr};
    } catch (const std::exception& error) {
        return {.failure = error.what()};
    }
}

} // namespace sessionq::cli
