// SPDX-License-Identifier: MIT
#include <iterator>
#include <mutex>
#include <string>
#include <utility>

#include <opentelemetry/sdk/instrumentationscope/instrumentation_scope.h>

#include <sessionq/opentelemetry.hpp>
#include <sessionq/version.hpp>

#include "core/clock.hpp"
#include "core/log.hpp"
#include "telemetry/metric_data.hpp"
#include "telemetry/start_book.hpp"

namespace sessionq::inline v1 {

namespace sdk = opentelemetry::sdk;

struct OpenTelemetryMetrics::Book {
    Book(Source from, const sdk::resource::Resource& of)
        : source{std::move(from)},
          resource{of},
          scope{sdk::instrumentationscope::InstrumentationScope::Create(
              "sessionq", std::string{version().text})},
          starts{core::system_clock().wall_now()} {}

    sdk::metrics::ResourceMetrics collect() {
        const std::lock_guard lock{mutex};
        const Metrics metrics = source();
        const WallTime now = core::system_clock().wall_now();
        std::vector<sdk::metrics::MetricData> all;
        for (const Metric& each : metrics.all()) {
            auto data = telemetry::to_metric_data(each, starts, now);
            std::move(data.begin(), data.end(), std::back_inserter(all));
        }
        std::vector<sdk::metrics::ScopeMetrics> scopes;
        scopes.emplace_back(scope.get(), std::move(all));
        return {&resource, std::move(scopes)};
    }

    const Source source;
    const sdk::resource::Resource resource;
    const opentelemetry::nostd::unique_ptr<sdk::instrumentationscope::InstrumentationScope> scope;
    std::mutex mutex{};
    telemetry::StartBook starts;
};

OpenTelemetryMetrics::OpenTelemetryMetrics(Source source, const sdk::resource::Resource& resource)
    : book_{std::make_unique<Book>(std::move(source), resource)} {}

OpenTelemetryMetrics::~OpenTelemetryMetrics() = default;

OpenTelemetryMetrics::Result OpenTelemetryMetrics::Produce() noexcept {
    try {
        return {book_->collect(), Status::kSuccess};
    } catch (...) {
        core::log(LogLevel::error, "telemetry",
                  "the source of metrics threw an exception; nothing was exported");
        return {sdk::metrics::ResourceMetrics{&book_->resource,
                                              std::vector<sdk::metrics::ScopeMetrics>{}},
                Status::kFailure}; // exporters need a resource
    }
}

} // namespace sessionq::inline v1
