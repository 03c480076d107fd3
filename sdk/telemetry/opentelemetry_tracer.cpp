// SPDX-License-Identifier: MIT
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <opentelemetry/common/attribute_value.h>
#include <opentelemetry/common/key_value_iterable.h>
#include <opentelemetry/context/context.h>
#include <opentelemetry/trace/provider.h>
#include <opentelemetry/trace/scope.h>
#include <opentelemetry/trace/span_context_kv_iterable.h>

#include <sessionq/opentelemetry.hpp>
#include <sessionq/version.hpp>

#include "core/utf8.hpp"
#include "telemetry/span_context.hpp"

namespace sessionq::inline v1 {
namespace {

namespace common_api = opentelemetry::common;
namespace trace_api = opentelemetry::trace;
namespace nostd = opentelemetry::nostd;

/// Calls `use` with the attribute's value, which is valid during the call.
template <typename Use>
auto with_value(const SpanValue& value, Use use) {
    if (const auto* text = std::get_if<std::string>(&value)) {
        const std::string valid = core::valid_utf8(*text);
        return use(common_api::AttributeValue{nostd::string_view{valid}});
    }
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        return use(common_api::AttributeValue{*number});
    }
    if (const auto* number = std::get_if<double>(&value)) {
        return use(common_api::AttributeValue{*number});
    }
    return use(common_api::AttributeValue{std::get<bool>(value)});
}

class Attributes final : public common_api::KeyValueIterable {
public:
    explicit Attributes(std::span<const SpanAttribute> all) : all_{all} {}

    bool ForEachKeyValue(nostd::function_ref<bool(nostd::string_view, common_api::AttributeValue)>
                             callback) const noexcept override {
        for (const SpanAttribute& each : all_) {
            const bool goes_on =
                with_value(each.value, [&](const common_api::AttributeValue& value) {
                    return callback({each.name.data(), each.name.size()}, value);
                });
            if (!goes_on) {
                return false;
            }
        }
        return true;
    }
    [[nodiscard]] std::size_t size() const noexcept override { return all_.size(); }

private:
    std::span<const SpanAttribute> all_;
};

class Links final : public trace_api::SpanContextKeyValueIterable {
public:
    explicit Links(std::span<const TraceContext> all) : all_{all} {}

    bool ForEachKeyValue(
        nostd::function_ref<bool(trace_api::SpanContext, const common_api::KeyValueIterable&)>
            callback) const noexcept override {
        const Attributes none{{}};
        for (const TraceContext& each : all_) {
            if (!callback(to_span_context(each, true), none)) {
                return false;
            }
        }
        return true;
    }
    [[nodiscard]] std::size_t size() const noexcept override { return all_.size(); }

private:
    std::span<const TraceContext> all_;
};

trace_api::SpanKind kind_of(SpanKind kind) {
    switch (kind) {
    case SpanKind::internal: return trace_api::SpanKind::kInternal;
    case SpanKind::producer: return trace_api::SpanKind::kProducer;
    case SpanKind::client: return trace_api::SpanKind::kClient;
    case SpanKind::consumer: return trace_api::SpanKind::kConsumer;
    }
    return trace_api::SpanKind::kInternal;
}

/// A parent for the start options, which would take the current span without one.
nostd::variant<trace_api::SpanContext, opentelemetry::context::Context> parent_of(
    const SpanStart& start) {
    const trace_api::SpanContext given =
        start.parent == nullptr ? trace_api::SpanContext::GetInvalid()
                                : to_span_context(*start.parent, start.kind == SpanKind::consumer);
    const trace_api::SpanContext current = trace_api::Tracer::GetCurrentSpan()->GetContext();
    switch (telemetry::choose_parent(given, current, start.kind)) {
    case telemetry::ParentSource::given: return given;
    case telemetry::ParentSource::current: return current;
    case telemetry::ParentSource::none: break;
    }
    return opentelemetry::context::Context{trace_api::kIsRootSpanKey, true};
}

class SdkSpan final : public Span {
public:
    SdkSpan(nostd::shared_ptr<trace_api::Span> span, TraceContext context)
        : span_{std::move(span)}, context_{std::move(context)} {}

    [[nodiscard]] const TraceContext& context() const noexcept override { return context_; }

    void set_attribute(const SpanAttribute& attribute) override {
        with_value(attribute.value, [&](const common_api::AttributeValue& value) {
            span_->SetAttribute({attribute.name.data(), attribute.name.size()}, value);
        });
    }

    [[nodiscard]] std::shared_ptr<void> enter() override {
        return std::make_shared<trace_api::Scope>(span_);
    }

    void end(const SpanEnd& how) override {
        if (!how.error_type.empty()) {
            set_attribute({.name = "error.type", .value = std::string{how.error_type}});
            span_->SetStatus(trace_api::StatusCode::kError, core::valid_utf8(how.error_text));
        }
        trace_api::EndSpanOptions options;
        options.end_steady_time = common_api::SteadyTimestamp{how.end};
        span_->End(options);
    }

private:
    nostd::shared_ptr<trace_api::Span> span_;
    TraceContext context_;
};

nostd::shared_ptr<trace_api::Tracer> global_tracer() {
    const std::string_view own = version().text;
    return trace_api::Provider::GetTracerProvider()->GetTracer("sessionq",
                                                               {own.data(), own.size()});
}

} // namespace

OpenTelemetryTracer::OpenTelemetryTracer(nostd::shared_ptr<trace_api::Tracer> tracer)
    : tracer_{tracer ? std::move(tracer) : global_tracer()} {}

std::unique_ptr<Span> OpenTelemetryTracer::start_span(const SpanStart& start) {
    trace_api::StartSpanOptions options;
    options.kind = kind_of(start.kind);
    options.parent = parent_of(start);
    options.start_system_time = common_api::SystemTimestamp{start.wall_start};
    options.start_steady_time = common_api::SteadyTimestamp{start.start};
    auto span = tracer_->StartSpan(core::valid_utf8(start.name), Attributes{start.attributes},
                                   Links{start.links}, options);
    auto context = to_trace_context(span->GetContext());
    if (!context) {
        return nullptr; // of a provider that makes none
    }
    return std::make_unique<SdkSpan>(std::move(span), std::move(*context));
}

} // namespace sessionq::inline v1
