// SPDX-License-Identifier: MIT
#include <sessionq/session_processor.hpp>

#include <utility>

#include "client/calls/blocking.hpp"
#include "client/processors/processor_runtime.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"
#include "processor/options_check.hpp"

namespace sessionq::inline v1 {

SessionProcessor::SessionProcessor(const Client& client, std::string entity,
                                   SessionProcessorOptions options)
    : SessionProcessor{client, std::vector<std::string>{std::move(entity)}, std::move(options)} {}

SessionProcessor::SessionProcessor(const Client& client, std::vector<std::string> entities,
                                   SessionProcessorOptions options)
    : runtime_{std::make_unique<detail::client::ProcessorRuntime>(
          detail::client::Access::core(client), std::move(entities), std::move(options))} {}

SessionProcessor::SessionProcessor(const Client& client,
                                   std::initializer_list<std::string_view> entities,
                                   SessionProcessorOptions options)
    : SessionProcessor{client, std::vector<std::string>(entities.begin(), entities.end()),
                       std::move(options)} {}

SessionProcessor::~SessionProcessor() = default;
SessionProcessor::SessionProcessor(SessionProcessor&&) noexcept = default;
SessionProcessor& SessionProcessor::operator=(SessionProcessor&&) noexcept = default;

void SessionProcessor::on_message(MessageHandler handler) {
    detail::client::Access::runtime(*this)->handlers_before_start().set(handler);
}

void SessionProcessor::on_messages(BatchHandler handler, BatchOptions options) {
    detail::processor::Handlers& handlers =
        detail::client::Access::runtime(*this)->handlers_before_start();
    detail::processor::check_batch(options);
    handlers.set(handler, options);
}

void SessionProcessor::on_session_open(SessionOpenHandler handler) {
    detail::client::Access::runtime(*this)->handlers_before_start().set(handler);
}

void SessionProcessor::on_session_close(SessionCloseHandler handler) {
    detail::client::Access::runtime(*this)->handlers_before_start().set(handler);
}

void SessionProcessor::on_failure(Callback<FailurePolicy(const FailureContext&)> choose) {
    detail::client::Access::runtime(*this)->handlers_before_start().failure = std::move(choose);
}

void SessionProcessor::on_error(Callback<void(const ErrorContext&)> handler) {
    detail::client::Access::runtime(*this)->handlers_before_start().error = std::move(handler);
}

void SessionProcessor::on_health_changed(Callback<void(const Health&)> handler) {
    detail::client::Access::runtime(*this)->handlers_before_start().health_changed =
        std::move(handler);
}

void SessionProcessor::start() { detail::client::Access::runtime(*this)->start(); }

void SessionProcessor::pause() { detail::client::Access::runtime(*this)->pause(); }

void SessionProcessor::resume() { detail::client::Access::runtime(*this)->resume(); }

StopReport SessionProcessor::stop(const StopOptions& options) noexcept {
    return runtime_ == nullptr ? StopReport{.complete = true} : runtime_->stop(options);
}

ProcessorState SessionProcessor::state() const {
    return detail::client::Access::runtime(*this)->state();
}

StopReport SessionProcessor::wait(const CallOptions& call) const {
    return detail::client::block(detail::client::Access::runtime(*this)->wait(call));
}

void SessionProcessor::update_limits(const SessionProcessorLimits& limits) {
    detail::client::Access::runtime(*this)->update_limits(limits);
}

ProcessorDescription SessionProcessor::describe() const {
    return detail::client::Access::runtime(*this)->describe();
}

ProcessorCounters SessionProcessor::counters() const {
    return detail::client::Access::runtime(*this)->counters();
}

Metrics SessionProcessor::metrics() const {
    return detail::client::Access::runtime(*this)->metrics();
}

const SessionProcessorOptions& SessionProcessor::options() const {
    return detail::client::Access::runtime(*this)->options();
}

Result<SessionProcessor> SessionProcessor::try_make(const Client& client, std::string entity,
                                                    SessionProcessorOptions options) noexcept {
    return core::as_result([&] {
        return SessionProcessor{client, std::move(entity), std::move(options)};
    });
}

Result<SessionProcessor> SessionProcessor::try_make(const Client& client,
                                                    std::vector<std::string> entities,
                                                    SessionProcessorOptions options) noexcept {
    return core::as_result([&] {
        return SessionProcessor{client, std::move(entities), std::move(options)};
    });
}

Result<SessionProcessor> SessionProcessor::try_make(
    const Client& client, std::initializer_list<std::string_view> entities,
    SessionProcessorOptions options) noexcept {
    return core::as_result([&] { return SessionProcessor{client, entities, std::move(options)}; });
}

Result<void> SessionProcessor::try_on_messages(BatchHandler handler,
                                               BatchOptions options) noexcept {
    return core::as_result([&] { on_messages(std::move(handler), options); });
}

Result<void> SessionProcessor::try_start() noexcept {
    return core::as_result([&] { start(); });
}

Result<void> SessionProcessor::try_pause() noexcept {
    return core::as_result([&] { pause(); });
}

Result<void> SessionProcessor::try_resume() noexcept {
    return core::as_result([&] { resume(); });
}

Result<void> SessionProcessor::try_update_limits(const SessionProcessorLimits& limits) noexcept {
    return core::as_result([&] { update_limits(limits); });
}

} // namespace sessionq::inline v1
