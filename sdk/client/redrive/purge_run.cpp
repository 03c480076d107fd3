// SPDX-License-Identifier: MIT
#include "client/redrive/purge_run.hpp"

#include "client/browsing/page_progress.hpp"
#include "client/calls/blocking.hpp"
#include "client/check.hpp"
#include "client/entity_path.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"
#include "core/id_check.hpp"

namespace sessionq::detail::client {

void PurgeRun::start() {
    pending_->ask_port([self = shared_from_this()] { self->give_up(); });
    ask();
}

void PurgeRun::ask() {
    request_.max_messages = progress_.next();
    request_.deadline =
        pending_->deadline().sooner(Deadline::after(timeout_, pending_->loop().now()));
    under_way_ = endpoint_.delete_messages(
        request_, [self = shared_from_this()](const core::Result<ports::DeletedMessages>& answer) {
            self->on_answer(answer);
        });
}

void PurgeRun::on_answer(const core::Result<ports::DeletedMessages>& answer) {
    if (!answer) {
        pending_->complete(progress_.describe(answer.failure()));
        return;
    }
    request_.enqueued_before = answer.value().enqueued_before;
    switch (progress_.add(answer.value().count)) {
    case PurgeProgress::Next::done: pending_->complete(progress_.deleted()); break;
    case PurgeProgress::Next::no_progress:
        pending_->complete(progress_.describe(no_progress(
            "asked to delete up to " + std::to_string(request_.max_messages) +
            " messages, it has answered " + std::to_string(answer.value().count) +
            ", and as little " + std::to_string(PurgeProgress::most_small) + " times before")));
        break;
    case PurgeProgress::Next::ask:
        if (is_given_up_) {
            pending_->complete(progress_.describe({.code = Errc::cancelled}));
        } else {
            ask();
        }
        break;
    }
}

void PurgeRun::give_up() {
    is_given_up_ = true;
    endpoint_.give_up(under_way_);
}

Operation<std::uint64_t> purge_all(const Client& client, const std::string& entity,
                                   const PurgeOptions& options, const CallOptions& call) {
    const auto& core = Access::core(client);
    core->capabilities().require(ports::Capability::batch_delete);
    ports::DeleteMessagesRequest request{
        .entity = entity_path(core->capabilities(), entity, options.sub_queue),
        .enqueued_before = options.enqueued_before,
        .session_id = options.session_id};
    const auto fault = core::id_fault(options.session_id.value_or(""));
    require_option(fault.empty(), "PurgeOptions::session_id " + std::string{fault});
    EndpointThread& thread = core->next_thread();
    const TimePoint now = core->clock().now();
    auto operation = make_operation<std::uint64_t>(
        core, *thread.thread, call,
        [&thread, request = std::move(request), max = options.max_messages,
         timeout = core->options().operation_timeout](const PendingPtr<std::uint64_t>& pending) {
            std::make_shared<PurgeRun>(*thread.endpoint, request, max, timeout, pending)->start();
        });
    operation.deadline = scope_of(call, now).deadline; // `operation_timeout` limits each request
    return operation;
}

} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

std::uint64_t purge(const Client& client, const std::string& entity, const PurgeOptions& options,
                    const CallOptions& call) {
    return detail::client::block(detail::client::purge_all(client, entity, options, call));
}

Result<std::uint64_t> try_purge(const Client& client, const std::string& entity,
                                const PurgeOptions& options, const CallOptions& call) noexcept {
    return core::as_result([&] { return purge(client, entity, options, call); });
}

} // namespace sessionq::inline v1
