// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/time.hpp>
#include <sessionq/trace_context.hpp>
#include <sessionq/tracer.hpp>

namespace sessionq::inline v1::testing {

/// A span that has ended.
///
/// Example:
///
///     const testing::RecordingTracer spans;
///     for (const testing::RecordedSpan& span : spans.spans()) {
///         if (span.kind == SpanKind::producer) {
///             std::cout << span.name << ' ' << span.error_type << '\n';
///         }
///     }
struct RecordedSpan {
    std::string name{};
    SpanKind kind{SpanKind::internal};
    TraceContext context{};
    std::optional<TraceContext> parent{}; ///< Unset: it began its trace.
    std::vector<TraceContext> links{};
    std::map<std::string, SpanValue, std::less<>> attributes{};
    TimePoint start{};
    WallTime wall_start{};
    TimePoint end{};
    std::string error_type{}; ///< Empty: no error.
    std::string error_text{};
};

/// A tracer that keeps the spans that have ended, for tests. Ids are numbers that count up.
///
/// Example:
///
///     const auto spans = std::make_shared<testing::RecordingTracer>();
///     LocalBroker broker;
///     broker.create_queue("orders");
///     const Client traced = Client::in_process(broker, {.tracer = spans});
///     Sender{traced, "orders"}.send(Message::of("placed").in_session("ada"));
///     const auto ended = spans->wait_for(1, std::chrono::seconds{5});
///     if (ended.empty() || ended.front().name != "send orders") {
///         std::abort();
///     }
///
/// Lifetimes: spans that end after the tracer are lost.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for destroying.
class RecordingTracer final : public Tracer {
public:
    RecordingTracer();
    ~RecordingTracer() override;
    RecordingTracer(const RecordingTracer&) = delete;
    RecordingTracer& operator=(const RecordingTracer&) = delete;

    [[nodiscard]] std::unique_ptr<Span> start_span(const SpanStart& start) override;

    /// The spans that have ended, in the order of their ends.
    [[nodiscard]] std::vector<RecordedSpan> spans() const;

    /// Waits until so many spans have ended, at most for `timeout`, and returns those that have.
    /// Settlements end when the broker answers, which may be after the handler.
    [[nodiscard]] std::vector<RecordedSpan> wait_for(std::size_t count, Duration timeout) const;

    /// How many have started and not ended.
    [[nodiscard]] std::size_t open() const;

    /// Forgets the spans that have ended.
    void clear();

private:
    struct Book;
    class Recorded;

    std::shared_ptr<Book> book_;
};

} // namespace sessionq::inline v1::testing
