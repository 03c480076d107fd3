// SPDX-License-Identifier: MIT
#include <sessionq/session_processor.hpp>

#include <utility>

#include "client/calls/blocking.hpp"
#include "client/processors/processor_runtime.hpp"
#include "core/access.hpp"
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

void SessionProcessor::on_session_open(std::function<void(SessionContext&)> handler) {
    detail::client::Access::runtime(*this)->handlers_before_start().session_open =
        std::move(handler);
}

void SessionProcessor::on_session_close(std::function<void(SessionContext&, CloseReason)> handler) {
    detail::client::Access::runtime(*this)->handlers_before_start().session_close =
        std::move(handler);
}

void SessionProcessor::on_failure(std::function<FailurePolicy(const FailureContext&)> choose) {
    detail::client::Access::runtime(*this)->handlers_before_start().failure = std::move(choose);
}

void SessionProcessor::on_error(std::function<void(const ErrorContext&)> handler) {
    detail::client::Access::runtime(*this)->handlers_before_start().error = std::move(handler);
}

void SessionProcessor::on_health_changed(std::function<void(const Health&)> handler) {
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

} // namespace sessionq::inline v1
