// SPDX-License-Identifier: MIT
#include "processor/call_spans.hpp"

#include "processor/message_call.hpp"
#include "processor/session_view.hpp"

namespace sessionq::processor {
namespace {

core::SpanPlace place_of(const SessionView& session) {
    return {.entity = session.entity(), .session_id = session.session_id()};
}

} // namespace

std::unique_ptr<CallSpans> CallSpans::handling(const SessionView& session,
                                               const ReceivedMessage& message) {
    core::OpenSpan span = session.shared().environment.tracing->start(
        [&](const core::SpanPlan& plan) { return plan.process(place_of(session), message); });
    auto spans = std::make_unique<CallSpans>(span.context());
    spans->process_ = std::move(span);
    return spans;
}

core::OpenSpan CallSpans::handling(const SessionView& session,
                                   std::span<MessageCall* const> batch) {
    core::OpenSpan span =
        session.shared().environment.tracing->start([&](const core::SpanPlan& plan) {
            std::vector<const ReceivedMessage*> messages;
            messages.reserve(batch.size());
            for (const MessageCall* each : batch) {
                messages.push_back(&each->message);
            }
            return plan.process(place_of(session), messages);
        });
    for (MessageCall* each : batch) {
        each->spans = std::make_unique<CallSpans>(span.context());
    }
    return span;
}

void CallSpans::handled(const std::string* error) noexcept {
    if (error == nullptr) {
        process_.end();
    } else {
        process_.end(handler_error, *error);
    }
}

void CallSpans::settling(std::unique_ptr<CallSpans>& spans, const SessionView& session,
                         const ReceivedMessage& message, ports::Outcome outcome) {
    if (spans == nullptr) {
        if (outcome == ports::Outcome::release) {
            return; // it goes back as it came
        }
        spans = std::make_unique<CallSpans>(nullptr);
    }
    spans->settle_ = session.shared().environment.tracing->start([&](const core::SpanPlan& plan) {
        return plan.settle(place_of(session), message, to_string(outcome), spans->handler());
    });
}

void trace_accept(const SessionView& session, TimePoint asked_at) {
    const SharedState& shared = session.shared();
    if (shared.environment.tracing != nullptr && shared.scope == ports::Scope::session) {
        shared.environment.tracing
            ->start_at(asked_at,
                       [&](const core::SpanPlan& plan) { return plan.receive(place_of(session)); })
            .end();
    }
}

} // namespace sessionq::processor
