// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "tools/sessionq/live/live_report.hpp"
#include "tools/sessionq/live/processor_snapshot.hpp"

namespace sessionq::cli {

/// Two looks at a processor, one after the other.
struct ProcessorChange {
    const ProcessorSnapshot& now;
    const ProcessorSnapshot* before{nullptr}; ///< Null: this is the first look, without rates.
    double seconds{0};                        ///< Between the two.
    std::vector<HistogramSnapshot> recent{};  ///< Of the last minute. Empty: no such page.
    double recent_seconds{0};                 ///< How long that minute was so far.
};

/// `target` names the processor.
[[nodiscard]] LiveReport report_of(const ProcessorChange& change, const std::string& target);

[[nodiscard]] Page overview_page(const ProcessorChange& change);
[[nodiscard]] Page slots_page(const ProcessorSnapshot& snapshot);
[[nodiscard]] Page histograms_page(const ProcessorChange& change);
/// The histograms of the last `seconds`.
[[nodiscard]] Page recent_page(const std::vector<HistogramSnapshot>& recent, double seconds);

[[nodiscard]] Style style_of_health(const std::string& state);

} // namespace sessionq::cli
