// SPDX-License-Identifier: MIT
#include "core/span_plan.hpp"

#include <algorithm>
#include <utility>

#include "core/ascii_case.hpp"
#include "core/trace_context.hpp"

namespace sessionq::inline v1 {

std::string_view to_string(SpanKind kind) noexcept {
    switch (kind) {
    case SpanKind::internal: return "internal";
    case SpanKind::producer: return "producer";
    case SpanKind::client: return "client";
    case SpanKind::consumer: return "consumer";
    }
    return "unknown";
}

} // namespace sessionq::inline v1

namespace sessionq::core {
namespace {

constexpr std::string_view subscriptions = "/subscriptions/";

void add_text(SpanDraft& draft, std::string_view name, std::string_view text) {
    if (!text.empty()) {
        SpanAttribute& added = draft.attributes.emplace_back();
        added.name = name;
        added.value = std::string{text};
    }
}

void add_number(SpanDraft& draft, std::string_view name, std::size_t number) {
    draft.attributes.push_back({name, static_cast<std::int64_t>(number)});
}

/// A subscription's entity names its topic first.
void add_destination(SpanDraft& draft, std::string_view entity) {
    const auto* const found =
        std::search(entity.begin(), entity.end(), subscriptions.begin(), subscriptions.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
    const auto topic = static_cast<std::size_t>(found - entity.begin());
    add_text(draft, "messaging.destination.name", entity.substr(0, topic));
    if (topic != entity.size()) {
        add_text(draft, "messaging.destination.subscription.name",
                 entity.substr(topic + subscriptions.size()));
    }
}

void add_ids(SpanDraft& draft, std::string_view message_id, std::string_view correlation_id) {
    add_text(draft, "messaging.message.id", message_id);
    add_text(draft, "messaging.message.conversation_id", correlation_id);
}

void add_message(SpanDraft& draft, const ReceivedMessage& message) {
    const std::optional<Message> outline = message.shared_content()->outline();
    add_ids(draft, message.message_id(), outline ? outline->correlation_id : std::string_view{});
    add_number(draft, "messaging.servicebus.message.delivery_count",
               std::size_t{message.delivery_count()} + 1);
}

void link(SpanDraft& draft, std::optional<TraceContext> context) {
    if (context) {
        draft.links.push_back(std::move(*context));
    }
}

void link_all(SpanDraft& draft, std::span<const ReceivedMessage* const> messages) {
    for (const ReceivedMessage* each : messages) {
        link(draft, each->trace());
    }
}

std::optional<TraceContext> copy_of(const TraceContext* context) {
    return context == nullptr ? std::nullopt : std::optional{*context};
}

} // namespace

SpanDraft SpanPlan::draft(SpanKind kind, std::string_view operation, std::string_view type,
                          const SpanPlace& place) const {
    SpanDraft made{.name = std::string{operation}.append(" ").append(place.entity), .kind = kind};
    add_text(made, "messaging.system", broker_.system);
    add_text(made, "messaging.client.id", broker_.client_id);
    add_text(made, "messaging.operation.name", operation);
    add_text(made, "messaging.operation.type", type);
    add_destination(made, place.entity);
    add_text(made, "server.address", broker_.address);
    if (!broker_.address.empty() && broker_.port != 0) {
        add_number(made, "server.port", broker_.port);
    }
    add_text(made, "sessionq.session.id", place.session_id);
    return made;
}

SpanDraft SpanPlan::send(std::string_view operation, std::string_view entity,
                         std::span<const Message> messages, const TraceContext* ambient) const {
    const Message& first = messages.front();
    const bool alone = messages.size() == 1;
    const bool gives_context = alone && !has_trace(first.properties);
    SpanDraft made =
        draft(gives_context ? SpanKind::producer : SpanKind::client, operation, "send",
              {.entity = entity,
               .session_id = alone && first.session_id ? *first.session_id : std::string_view{}});
    made.parent = copy_of(ambient);
    for (const Message& each : messages) {
        link(made, trace_in(each.properties));
    }
    if (alone) {
        add_ids(made, first.message_id, first.correlation_id);
    } else {
        add_number(made, "messaging.batch.message_count", messages.size());
    }
    return made;
}

SpanDraft SpanPlan::create(std::string_view entity, const Message& message,
                           const TraceContext* ambient) const {
    SpanDraft made =
        draft(SpanKind::producer, "create", "create",
              {.entity = entity,
               .session_id = message.session_id ? *message.session_id : std::string_view{}});
    made.parent = copy_of(ambient);
    add_ids(made, message.message_id, message.correlation_id);
    return made;
}

SpanDraft SpanPlan::receive(const SpanPlace& place,
                            std::span<const ReceivedMessage* const> messages,
                            const TraceContext* ambient) const {
    SpanDraft made = draft(SpanKind::client, "receive", "receive", place);
    made.parent = copy_of(ambient);
    link_all(made, messages);
    if (messages.size() == 1) {
        add_message(made, *messages.front());
    } else if (!messages.empty()) {
        add_number(made, "messaging.batch.message_count", messages.size());
    }
    return made;
}

SpanDraft SpanPlan::process(const SpanPlace& place, const ReceivedMessage& message) const {
    SpanDraft made = draft(SpanKind::consumer, "process", "process", place);
    made.parent = message.trace();
    link(made, made.parent);
    add_message(made, message);
    return made;
}

SpanDraft SpanPlan::process(const SpanPlace& place,
                            std::span<const ReceivedMessage* const> batch) const {
    SpanDraft made = draft(SpanKind::consumer, "process", "process", place);
    link_all(made, batch);
    add_number(made, "messaging.batch.message_count", batch.size());
    return made;
}

SpanDraft SpanPlan::settle(const SpanPlace& place, const ReceivedMessage& message,
                           std::string_view outcome, const TraceContext* handler) const {
    SpanDraft made = draft(SpanKind::client, "settle", "settle", place);
    const std::optional<TraceContext> sent = message.trace();
    made.parent = handler != nullptr ? copy_of(handler) : sent;
    link(made, sent);
    add_message(made, message);
    std::string status{outcome};
    std::ranges::replace(status, '-', '_'); // as the conventions write it
    add_text(made, "messaging.servicebus.disposition_status", status);
    return made;
}

} // namespace sessionq::core
