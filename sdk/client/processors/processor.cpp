// SPDX-License-Identifier: MIT
#include <sessionq/processor.hpp>

#include <utility>

#include "client/calls/blocking.hpp"
#include "client/check.hpp"
#include "client/entity_path.hpp"
#include "client/processors/processor_runtime.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"

namespace sessionq::inline v1 {
namespace {

constexpr std::uint32_t most_calls = 10'000;

void check_calls(std::uint32_t calls) {
    detail::client::require_option(calls >= 1 && calls <= most_calls,
                                   "ProcessorOptions::max_concurrent_calls must be 1 to 10,000");
}

/// Returns the options of a processor with one session that it never leaves. Its concurrent calls
/// are those of that session.
SessionProcessorOptions as_session(const ProcessorOptions& options) {
    check_calls(options.max_concurrent_calls);
    return {.max_concurrent_sessions = 1,
            .max_concurrent_calls_per_session = options.max_concurrent_calls,
            .session_idle_timeout = Duration::max(),
            .prefetch = options.prefetch,
            .max_buffered_bytes = options.max_buffered_bytes,
            .worker_threads = options.worker_threads,
            .executor = options.executor,
            .max_lock_renewal = options.max_lock_renewal,
            .receive_and_delete = options.receive_and_delete,
            .auto_complete = options.auto_complete,
            .failure_policy = options.failure_policy,
            .expired_message = options.expired_message,
            .error_backoff = options.error_backoff,
            .priority = options.priority,
            .health = options.health,
            .describe_socket = options.describe_socket};
}

} // namespace

Processor::Processor(const Client& client, std::string entity, ProcessorOptions options)
    : runtime_{std::make_unique<detail::client::ProcessorRuntime>(
          detail::client::Access::core(client),
          std::vector<std::string>{
              detail::client::entity_path(detail::client::Access::core(client)->capabilities(),
                                          std::move(entity), options.sub_queue)},
          as_session(options), ports::Scope::entity)} {}

Processor::~Processor() = default;
Processor::Processor(Processor&&) noexcept = default;
Processor& Processor::operator=(Processor&&) noexcept = default;

void Processor::on_message(MessageHandler handler) {
    detail::client::Access::runtime(*this)->handlers_before_start().set(handler);
}

void Processor::on_failure(Callback<FailurePolicy(const FailureContext&)> choose) {
    detail::client::Access::runtime(*this)->handlers_before_start().failure = std::move(choose);
}

void Processor::on_error(Callback<void(const ErrorContext&)> handler) {
    detail::client::Access::runtime(*this)->handlers_before_start().error = std::move(handler);
}

void Processor::on_health_changed(Callback<void(const Health&)> handler) {
    detail::client::Access::runtime(*this)->handlers_before_start().health_changed =
        std::move(handler);
}

void Processor::start() { detail::client::Access::runtime(*this)->start(); }

void Processor::pause() { detail::client::Access::runtime(*this)->pause(); }

void Processor::resume() { detail::client::Access::runtime(*this)->resume(); }

StopReport Processor::stop(const StopOptions& options) noexcept {
    return runtime_ == nullptr ? StopReport{.complete = true} : runtime_->stop(options);
}

ProcessorState Processor::state() const { return detail::client::Access::runtime(*this)->state(); }

StopReport Processor::wait(const CallOptions& call) const {
    return detail::client::block(detail::client::Access::runtime(*this)->wait(call));
}

void Processor::update_limits(const ProcessorLimits& limits) {
    if (limits.max_concurrent_calls) {
        check_calls(*limits.max_concurrent_calls);
    }
    detail::client::Access::runtime(*this)->update_limits(
        {.max_concurrent_calls_per_session = limits.max_concurrent_calls,
         .prefetch = limits.prefetch});
}

ProcessorDescription Processor::describe() const {
    return detail::client::Access::runtime(*this)->describe();
}

ProcessorCounters Processor::counters() const {
    return detail::client::Access::runtime(*this)->counters();
}

Metrics Processor::metrics() const { return detail::client::Access::runtime(*this)->metrics(); }

Result<Processor> Processor::try_make(const Client& client, std::string entity,
                                      ProcessorOptions options) noexcept {
    return core::as_result([&] {
        return Processor{client, std::move(entity), std::move(options)};
    });
}

Result<void> Processor::try_start() noexcept {
    return core::as_result([&] { start(); });
}

Result<void> Processor::try_pause() noexcept {
    return core::as_result([&] { pause(); });
}

Result<void> Processor::try_resume() noexcept {
    return core::as_result([&] { resume(); });
}

Result<void> Processor::try_update_limits(const ProcessorLimits& limits) noexcept {
    return core::as_result([&] { update_limits(limits); });
}

} // namespace sessionq::inline v1
