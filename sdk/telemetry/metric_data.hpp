// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <opentelemetry/sdk/metrics/data/metric_data.h>

#include <sessionq/metrics.hpp>

#include "telemetry/start_book.hpp"

namespace sessionq::telemetry {

/// The metric as OpenTelemetry's SDK has it: one for each instant since when its totals count.
[[nodiscard]] std::vector<opentelemetry::sdk::metrics::MetricData> to_metric_data(
    const Metric& metric, StartBook& starts, WallTime now);

} // namespace sessionq::telemetry
