// SPDX-License-Identifier: MIT
// Traces and metrics with OpenTelemetry's C++ SDK, printed to the terminal. One trace runs from a
// request through a queue to a span of the handler's own. A service would export both with OTLP.
// Needs opentelemetry-cpp.

#include <iostream>
#include <latch>
#include <memory>
#include <utility>

#include <opentelemetry/exporters/ostream/metric_exporter_factory.h>
#include <opentelemetry/exporters/ostream/span_exporter_factory.h>
#include <opentelemetry/sdk/metrics/export/periodic_exporting_metric_reader.h>
#include <opentelemetry/sdk/resource/resource.h>
#include <opentelemetry/sdk/trace/simple_processor_factory.h>
#include <opentelemetry/sdk/trace/tracer_provider_factory.h>
#include <opentelemetry/trace/provider.h>
#include <opentelemetry/trace/scope.h>

#include <sessionq/opentelemetry.hpp>
#include <sessionq/sessionq.hpp>

namespace sdk = opentelemetry::sdk;
namespace trace_api = opentelemetry::trace;

namespace {

sdk::resource::Resource this_service() {
    return sdk::resource::Resource::Create({{"service.name", "shop"}});
}

void provide_traces() {
    std::shared_ptr<trace_api::TracerProvider> provider = sdk::trace::TracerProviderFactory::Create(
        sdk::trace::SimpleSpanProcessorFactory::Create(
            opentelemetry::exporter::trace::OStreamSpanExporterFactory::Create()),
        this_service());
    trace_api::Provider::SetTracerProvider(provider);
}

opentelemetry::nostd::shared_ptr<trace_api::Span> start(const char* name) {
    return trace_api::Provider::GetTracerProvider()->GetTracer("shop")->StartSpan(name);
}

} // namespace

int main() {
    provide_traces();
    sessionq::LocalBroker broker;
    broker.create_queue("orders");
    const auto client = sessionq::Client::in_process(
        broker, {.tracer = std::make_shared<sessionq::OpenTelemetryTracer>()});

    sessionq::SessionProcessor orders{client, "orders"};
    trace_api::TraceId handled_in;
    std::latch handled{1};
    orders.on_message([&](sessionq::MessageContext&) {
        const auto span = start("pack"); // a child of sessionq's span of this handler
        handled_in = span->GetContext().trace_id();
        span->End();
        handled.count_down();
    });

    // Before the reader, which reads it until the reader ends.
    sessionq::OpenTelemetryMetrics metrics{[&] {
                                               sessionq::Metrics all = orders.metrics();
                                               all += client.metrics();
                                               return all;
                                           },
                                           this_service()};
    sdk::metrics::PeriodicExportingMetricReader reader{
        opentelemetry::exporter::metrics::OStreamMetricExporterFactory::Create(), {}};

    orders.start();
    const auto request = start("request");
    {
        const trace_api::Scope scope{request}; // messages sent in it belong to it
        sessionq::Sender{client, "orders"}.send(sessionq::Message::of("order").in_session("ada"));
    }
    request->End();
    handled.wait();
    orders.stop();

    reader.SetMetricProducer(&metrics); // exports now, and each minute from here on
    reader.Shutdown();
    if (handled_in != request->GetContext().trace_id()) {
        std::cerr << "the handler ran in another trace\n";
        return 1;
    }
}
