// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/health.hpp>
#include <sessionq/metrics.hpp>
#include <sessionq/processor_report.hpp>

#include "processor/report/meters.hpp"

namespace sessionq::detail::processor {

/// The work that waits at an entity.
struct Backlog {
    std::size_t active{0};
    std::size_t deferred{0};
    std::size_t scheduled{0};
    std::size_t waiting_sessions{0};
    Duration waiting_for{}; ///< the wait of the session that waits longest
};

/// Builds the metrics of a processor under their public names. `Processor::metrics` adds the meters
/// of each shard, the processor's description, and its health. Then it takes the result. The client
/// adds the backlog of an entity in the same way.
class ProcessorMetrics {
public:
    /// `client_id`: empty if the client has none.
    ProcessorMetrics(std::string_view system, std::string_view client_id,
                     const std::vector<std::string>& entities);

    void add(const Meters& meters);
    void add(const ProcessorDescription& described);
    void add(const Health& health);
    void add(const Backlog& backlog);
    [[nodiscard]] Metrics take() { return std::move(metrics_); }

private:
    MetricAttributes common_;
    Metrics metrics_{};
};

} // namespace sessionq::detail::processor
