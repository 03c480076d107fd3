// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <opentelemetry/nostd/shared_ptr.h>
#include <opentelemetry/sdk/metrics/export/metric_producer.h>
#include <opentelemetry/sdk/resource/resource.h>
#include <opentelemetry/trace/span_context.h>
#include <opentelemetry/trace/tracer.h>

#include <sessionq/metrics.hpp>
#include <sessionq/trace_context.hpp>
#include <sessionq/tracer.hpp>

/// Adapters to OpenTelemetry's C++ SDK, the component `sessionq::opentelemetry`. It is built where
/// CMake finds the package `opentelemetry-cpp`. Tested with its version 1.28.0, built with C++20
/// and without `WITH_STL`. `sessionq.hpp` does not include this header.
namespace sessionq::inline v1 {

/// The span context that `trace` names. Invalid if `trace` is invalid by the W3C's rules.
/// `is_remote`: whether another process made it.
///
/// Example:
///
///     opentelemetry::trace::StartSpanOptions options;
///     if (const TraceContext* trace = OperationContext::current().trace()) {
///         options.parent = to_span_context(*trace, false);
///     }
[[nodiscard]] opentelemetry::trace::SpanContext to_span_context(const TraceContext& trace,
                                                                bool is_remote);

/// The trace context of a span, for `OperationContext::with_trace`. Nothing if it is invalid.
[[nodiscard]] std::optional<TraceContext> to_trace_context(
    const opentelemetry::trace::SpanContext& span);

/// The spans of a client as OpenTelemetry's: `ClientOptions::tracer`. Names, kinds and attributes
/// are those that `Tracer` lists. A span that fails has the status `Error`, its text as the
/// description, and the attribute `error.type`. Others leave the status unset.
///
/// Example:
///
///     const Client traced = Client::connect(std::getenv("SESSIONQ_CONNECTION"),
///                                           {.tracer = std::make_shared<OpenTelemetryTracer>()});
///
/// Parents:
/// - A span that a call of the application starts (`send`, `create`, `schedule`, of receivers also
///   `receive` and `settle`) belongs to OpenTelemetry's current span of that thread, if there is
///   one. A sessionq context of another trace takes precedence, for example one that is passed to
///   the call.
/// - A `process` span belongs to its message's context, which counts as remote. While a handler
///   runs, its span is OpenTelemetry's current span of the worker, so the handler's own spans
///   belong to it. So it is while a coroutine handler runs. A scope of the handler's own must not
///   last across a `co_await`, after which the coroutine may be on another thread.
/// - All other spans have the parents that `Tracer` lists.
///
/// Sampling is the SDK's. The context of a span that is not sampled travels on, with the flag off.
/// With a provider that makes no spans, the parent's context travels on.
///
/// Errors: none of its own. Text that is not UTF-8 is sent with U+FFFD in place of bad bytes.
///
/// Thread safety: safe, as `Tracer` demands.
class OpenTelemetryTracer final : public Tracer {
public:
    /// `tracer` makes the spans. Null: the tracer `sessionq` of the global provider, as it is now.
    explicit OpenTelemetryTracer(
        opentelemetry::nostd::shared_ptr<opentelemetry::trace::Tracer> tracer = {});

    [[nodiscard]] std::unique_ptr<Span> start_span(const SpanStart& start) override;

private:
    opentelemetry::nostd::shared_ptr<opentelemetry::trace::Tracer> tracer_;
};

/// Gives metrics to a reader of OpenTelemetry's SDK, under the names, units and attributes that
/// `Metrics` lists. It bridges finished metrics (`MetricProducer`), because OpenTelemetry's meters
/// have no histogram that is read on collection.
///
/// Example:
///
///     OpenTelemetryMetrics metrics{[&] {
///         Metrics all = processor.metrics();
///         all += client.metrics();
///         return all;
///     }};
///     opentelemetry::sdk::metrics::PeriodicExportingMetricReader reader{
///         opentelemetry::exporter::metrics::OStreamMetricExporterFactory::Create(), {}};
///     reader.SetMetricProducer(&metrics); // collects and exports from here on
///
/// It offers:
/// - counters: monotonic sums,
/// - gauges: sums that may fall, as of an up-down counter. Gauges in seconds are gauges, because
///   they do not add up,
/// - histograms: sums, counts, minimum, maximum, and buckets with fixed bounds from 1 us to 1 h,
///   those of `to_prometheus`.
///
/// All are cumulative. The reader's preference has no effect. Numbers are integers, except seconds.
/// A total starts when this object is made. If it falls, because a processor began again, it starts
/// at the collection before. Views and cardinality limits of a `MeterProvider` have no effect. A
/// reader has one producer, so this needs a reader and an exporter beside those of the
/// `MeterProvider`.
///
/// Errors: if the source throws, the collection fails, exports nothing, and the log has a line.
///
/// Lifetimes: it must outlive the reader, and so must the objects that the source refers to. Shut
/// the reader down, or destroy it, first.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for destroying. The source runs on the reader's thread, in one
/// thread at a time.
class OpenTelemetryMetrics final : public opentelemetry::sdk::metrics::MetricProducer {
public:
    /// Returns the metrics to export. Called at each collection.
    using Source = std::function<Metrics()>;

    /// `resource` is the entity that produces the metrics: the same as for the other providers of
    /// the process.
    explicit OpenTelemetryMetrics(Source source,
                                  const opentelemetry::sdk::resource::Resource& resource =
                                      opentelemetry::sdk::resource::Resource::Create({}));
    ~OpenTelemetryMetrics() override;

    /// Reads the source and returns its metrics. The SDK calls it.
    Result Produce() noexcept override;

private:
    struct Book;

    std::unique_ptr<Book> book_;
};

} // namespace sessionq::inline v1
