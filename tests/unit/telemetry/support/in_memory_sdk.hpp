// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <opentelemetry/exporters/memory/in_memory_span_exporter_factory.h>
#include <opentelemetry/sdk/trace/simple_processor.h>
#include <opentelemetry/sdk/trace/tracer_provider.h>

#include <sessionq/opentelemetry.hpp>

namespace sessionq::test {

namespace sdk = opentelemetry::sdk::trace;
namespace trace_api = opentelemetry::trace;
namespace nostd = opentelemetry::nostd;

using Ended = std::vector<std::unique_ptr<sdk::SpanData>>;

/// OpenTelemetry's SDK with a place in memory for the spans that have ended.
struct Sdk {
    explicit Sdk(std::unique_ptr<sdk::Sampler> sampler = nullptr) {
        auto exporter = opentelemetry::exporter::memory::InMemorySpanExporterFactory::Create(data);
        auto processor = std::make_unique<sdk::SimpleSpanProcessor>(std::move(exporter));
        provider = sampler == nullptr
                       ? std::make_shared<sdk::TracerProvider>(std::move(processor))
                       : std::make_shared<sdk::TracerProvider>(
                             std::move(processor), opentelemetry::sdk::resource::Resource{},
                             std::move(sampler));
        tracer = provider->GetTracer("test");
    }
    Ended take() { return data->GetSpans(); }

    std::shared_ptr<opentelemetry::exporter::memory::InMemorySpanData> data{};
    std::shared_ptr<sdk::TracerProvider> provider{};
    nostd::shared_ptr<trace_api::Tracer> tracer{};
};

inline TraceContext context_of(const sdk::SpanData& span) {
    return to_trace_context(span.GetSpanContext()).value_or(TraceContext{});
}

inline std::string span_id(const TraceContext& context) {
    return context.traceparent.substr(36, 16);
}
inline std::string trace_id(const TraceContext& context) {
    return context.traceparent.substr(3, 32);
}

inline std::string parent_id(const sdk::SpanData& span) {
    std::string id(16, '-');
    span.GetParentSpanId().ToLowerBase16(nostd::span<char, 16>{id.data(), id.size()});
    return id;
}

inline const std::string no_parent(16, '0');

inline std::string text_of(const sdk::SpanData& span, const std::string& name) {
    return nostd::get<std::string>(span.GetAttributes().at(name));
}

inline const sdk::SpanData& named(const Ended& spans, const std::string& name) {
    const auto found = std::ranges::find_if(
        spans, [&](const auto& each) { return std::string{each->GetName()} == name; });
    REQUIRE(found != spans.end());
    return **found;
}

} // namespace sessionq::test
