// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/message.hpp>
#include <sessionq/received_message.hpp>
#include <sessionq/tracer.hpp>

namespace sessionq::core {

/// A client's broker, as its spans describe it.
struct SpanBroker {
    std::string system{};  ///< As OpenTelemetry names it.
    std::string address{}; ///< Empty: there is no network.
    std::uint16_t port{0};
    std::string client_id{}; ///< Empty: the client has none.
};

/// A span that is to start.
struct SpanDraft {
    std::string name{};
    SpanKind kind{SpanKind::internal};
    std::optional<TraceContext> parent{};
    std::vector<TraceContext> links{};
    std::vector<SpanAttribute> attributes{};
};

/// Where messages are.
struct SpanPlace {
    std::string_view entity{};
    std::string_view session_id{};
};

/// Decides which spans there are: their names, kinds, parents, links and attributes, by
/// OpenTelemetry's conventions for messaging.
///
/// Thread safety: safe to read.
class SpanPlan {
public:
    explicit SpanPlan(SpanBroker broker) : broker_{std::move(broker)} {}

    /// One request for these messages, which have their own contexts, except a single one that gets
    /// the context of this span.
    [[nodiscard]] SpanDraft send(std::string_view operation, std::string_view entity,
                                 std::span<const Message> messages,
                                 const TraceContext* ambient) const;
    /// One message of several in a request.
    [[nodiscard]] SpanDraft create(std::string_view entity, const Message& message,
                                   const TraceContext* ambient) const;
    /// A session was accepted, or messages came.
    [[nodiscard]] SpanDraft receive(const SpanPlace& place,
                                    std::span<const ReceivedMessage* const> messages = {},
                                    const TraceContext* ambient = nullptr) const;
    [[nodiscard]] SpanDraft process(const SpanPlace& place, const ReceivedMessage& message) const;
    [[nodiscard]] SpanDraft process(const SpanPlace& place,
                                    std::span<const ReceivedMessage* const> batch) const;
    /// `handler`: the context of the last span that handled it; null: none did.
    [[nodiscard]] SpanDraft settle(const SpanPlace& place, const ReceivedMessage& message,
                                   std::string_view outcome, const TraceContext* handler) const;

private:
    [[nodiscard]] SpanDraft draft(SpanKind kind, std::string_view operation, std::string_view type,
                                  const SpanPlace& place) const;

    SpanBroker broker_;
};

} // namespace sessionq::core
