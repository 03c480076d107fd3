// SPDX-License-Identifier: MIT
// The names of the public enums that no other source of the library tells of, and how all of them
// are printed.
#include <ostream>
#include <string_view>

#include <sessionq/connection_idleness.hpp>
#include <sessionq/crash_guard.hpp>
#include <sessionq/decimal.hpp>
#include <sessionq/error.hpp>
#include <sessionq/failure_policy.hpp>
#include <sessionq/health.hpp>
#include <sessionq/logging.hpp>
#include <sessionq/message.hpp>
#include <sessionq/message_content.hpp>
#include <sessionq/message_order.hpp>
#include <sessionq/metrics.hpp>
#include <sessionq/on_damage.hpp>
#include <sessionq/processor_options.hpp>
#include <sessionq/processor_report.hpp>
#include <sessionq/property_value.hpp>
#include <sessionq/sender_options.hpp>
#include <sessionq/session_context.hpp>
#include <sessionq/sub_queue.hpp>
#include <sessionq/testing/settlement.hpp>
#include <sessionq/tracer.hpp>
#include <sessionq/transport.hpp>

#include "core/enum_names.hpp"

namespace sessionq::inline v1 {

std::string_view to_string(OnDamage reaction) noexcept {
    static constexpr std::string_view names[] = {"refuse", "set_aside"};
    return core::name_of<OnDamage::set_aside>(reaction, names);
}

std::string_view to_string(BodyKind kind) noexcept {
    static constexpr std::string_view names[] = {"none", "data", "several_data", "sequence",
                                                 "value"};
    return core::name_of<BodyKind::value>(kind, names);
}

std::string_view to_string(MessageState state) noexcept {
    static constexpr std::string_view names[] = {"active", "deferred", "scheduled"};
    return core::name_of<MessageState::scheduled>(state, names);
}

std::string_view to_string(TextField field) noexcept {
    static constexpr std::string_view names[] = {
        "content_type",        "correlation_id", "message_id", "reply_to",
        "reply_to_session_id", "session_id",     "subject",    "to"};
    return core::name_of<TextField::to>(field, names);
}

std::string_view to_string(MetricKind kind) noexcept {
    static constexpr std::string_view names[] = {"counter", "gauge", "histogram"};
    return core::name_of<MetricKind::histogram>(kind, names);
}

std::string_view to_string(MessageOrder order) noexcept {
    static constexpr std::string_view names[] = {"arrival", "priority", "property"};
    return core::name_of<MessageOrder::property>(order, names);
}

std::string_view to_string(CrashGuard::Action action) noexcept {
    static constexpr std::string_view names[] = {"dead_letter", "park_session"};
    return core::name_of<CrashGuard::Action::park_session>(action, names);
}

std::string_view to_string(Transport transport) noexcept {
    static constexpr std::string_view names[] = {"tcp", "web_sockets"};
    return core::name_of<Transport::web_sockets>(transport, names);
}

std::string_view to_string(Decimal::Width width) noexcept {
    static constexpr std::string_view names[] = {"bits32", "bits64", "bits128"};
    return core::name_of<Decimal::Width::bits128>(width, names);
}

std::string_view to_string(ValueType type) noexcept {
    static constexpr std::string_view names[] = {
        "null",      "boolean",   "uint8",      "uint16",    "uint32",    "uint64",
        "int8",      "int16",     "int32",      "int64",     "float32",   "float64",
        "decimal32", "decimal64", "decimal128", "character", "timestamp", "uuid",
        "binary",    "string",    "symbol",     "time_span", "uri",       "date_time_offset",
        "encoded"};
    return core::name_of<ValueType::encoded>(type, names);
}

std::string_view to_string(ExpiredMessageAction action) noexcept {
    static constexpr std::string_view names[] = {"dead_letter", "discard", "handle"};
    return core::name_of<ExpiredMessageAction::handle>(action, names);
}

std::string_view to_string(SubQueue queue) noexcept {
    static constexpr std::string_view names[] = {"none", "dead_letter", "transfer_dead_letter"};
    return core::name_of<SubQueue::transfer_dead_letter>(queue, names);
}

std::string_view to_string(IdleDirection direction) noexcept {
    static constexpr std::string_view names[] = {"read", "write"};
    return core::name_of<IdleDirection::write>(direction, names);
}

std::string_view to_string(FailurePolicy::Action action) noexcept {
    static constexpr std::string_view names[] = {"abandon", "dead_letter", "park_session",
                                                 "dead_letter_session", "retry_later"};
    return core::name_of<FailurePolicy::Action::retry_later>(action, names);
}

std::string_view to_string(UnknownOutcome action) noexcept {
    static constexpr std::string_view names[] = {"fail", "resend"};
    return core::name_of<UnknownOutcome::resend>(action, names);
}

std::ostream& operator<<(std::ostream& out, OnDamage reaction) {
    return out << to_string(reaction);
}

std::ostream& operator<<(std::ostream& out, BodyKind kind) { return out << to_string(kind); }

std::ostream& operator<<(std::ostream& out, MessageState state) { return out << to_string(state); }

std::ostream& operator<<(std::ostream& out, TextField field) { return out << to_string(field); }

std::ostream& operator<<(std::ostream& out, MetricKind kind) { return out << to_string(kind); }

std::ostream& operator<<(std::ostream& out, MessageOrder order) { return out << to_string(order); }

std::ostream& operator<<(std::ostream& out, CrashGuard::Action action) {
    return out << to_string(action);
}

std::ostream& operator<<(std::ostream& out, Transport transport) {
    return out << to_string(transport);
}

std::ostream& operator<<(std::ostream& out, Decimal::Width width) {
    return out << to_string(width);
}

std::ostream& operator<<(std::ostream& out, ValueType type) { return out << to_string(type); }

std::ostream& operator<<(std::ostream& out, ExpiredMessageAction action) {
    return out << to_string(action);
}

std::ostream& operator<<(std::ostream& out, SubQueue queue) { return out << to_string(queue); }

std::ostream& operator<<(std::ostream& out, IdleDirection direction) {
    return out << to_string(direction);
}

std::ostream& operator<<(std::ostream& out, FailurePolicy::Action action) {
    return out << to_string(action);
}

std::ostream& operator<<(std::ostream& out, UnknownOutcome action) {
    return out << to_string(action);
}

std::ostream& operator<<(std::ostream& out, SpanKind kind) { return out << to_string(kind); }

std::ostream& operator<<(std::ostream& out, ErrorSource source) { return out << to_string(source); }

std::ostream& operator<<(std::ostream& out, MessageFate fate) { return out << to_string(fate); }

std::ostream& operator<<(std::ostream& out, ProcessorState state) {
    return out << to_string(state);
}

std::ostream& operator<<(std::ostream& out, Errc value) { return out << to_string(value); }

std::ostream& operator<<(std::ostream& out, HealthCause cause) { return out << to_string(cause); }

std::ostream& operator<<(std::ostream& out, Health::State state) { return out << to_string(state); }

std::ostream& operator<<(std::ostream& out, CloseReason reason) { return out << to_string(reason); }

std::ostream& operator<<(std::ostream& out, LogLevel level) { return out << to_string(level); }

namespace testing {

std::string_view to_string(Settlement::Outcome outcome) noexcept {
    static constexpr std::string_view names[] = {"completed", "abandoned", "released", "deferred",
                                                 "dead_lettered"};
    return core::name_of<Settlement::Outcome::dead_lettered>(outcome, names);
}

std::string_view to_string(Settlement::Decider decider) noexcept {
    static constexpr std::string_view names[] = {"handler", "processor"};
    return core::name_of<Settlement::Decider::processor>(decider, names);
}

std::ostream& operator<<(std::ostream& out, Settlement::Decider decider) {
    return out << to_string(decider);
}

std::ostream& operator<<(std::ostream& out, Settlement::Outcome outcome) {
    return out << to_string(outcome);
}

} // namespace testing
} // namespace sessionq::inline v1
