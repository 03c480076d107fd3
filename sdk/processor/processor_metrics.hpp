// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/metrics.hpp>
#include <sessionq/processor_report.hpp>

#include "processor/meters.hpp"

namespace sessionq::processor {

/// The metrics of a processor, of what its shards have measured and what was described.
class ProcessorMetrics {
public:
    ProcessorMetrics(std::string_view system, const std::vector<std::string>& entities);

    void add(const Meters& meters);
    void add(const ProcessorDescription& described);
    [[nodiscard]] Metrics take() { return std::move(metrics_); }

private:
    MetricAttributes common_;
    Metrics metrics_{};
};

} // namespace sessionq::processor
