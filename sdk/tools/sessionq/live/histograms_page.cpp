// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "tools/sessionq/live/processor_report.hpp"
#include "tools/sessionq/live/quantities.hpp"
#include "tools/sessionq/live/recent_histograms.hpp"

namespace sessionq::cli {
namespace {

constexpr std::size_t most_bars = 12; // of one histogram

struct MeasureName {
    const char* metric;
    const char* title;
};
constexpr std::array measure_names{
    MeasureName{"messaging.process.duration", "handler time"},
    MeasureName{"sessionq.roll.latency", "roll latency"},
    MeasureName{"messaging.client.operation.duration", "round trip"},
    MeasureName{"sessionq.message.ready_wait", "ready wait"},
    MeasureName{"sessionq.accept.wait", "accept wait"},
    MeasureName{"sessionq.lock.margin", "lock margin"},
    MeasureName{"sessionq.session.hold", "session hold"},
};

/// Every point of a processor has these, with the same values.
bool tells_nothing(const std::string& attribute) {
    return attribute == "messaging.system" || attribute == "messaging.destination.name" ||
           attribute == "messaging.destination.subscription.name" ||
           attribute == "sessionq.entities" || attribute == "messaging.operation.type";
}

std::size_t rank_of(const HistogramSnapshot& histogram) {
    const auto found =
        std::find_if(measure_names.begin(), measure_names.end(),
                     [&](const MeasureName& each) { return histogram.name == each.metric; });
    return static_cast<std::size_t>(found - measure_names.begin());
}

std::string title_of(const HistogramSnapshot& histogram) {
    const std::size_t rank = rank_of(histogram);
    std::string title = rank < measure_names.size() ? measure_names[rank].title : histogram.name;
    for (const auto& [name, value] : histogram.attributes) {
        const bool is_told = histogram.name == "messaging.process.duration" && value == "process";
        if (!tells_nothing(name) && !is_told) {
            title += ", " + value;
        }
    }
    return title;
}

/// The buckets joined: as fine as `most_bars` allows, each bound a power of two of the last.
Bars bars_of(const HistogramSnapshot& histogram) {
    Bars shown{.title = title_of(histogram)};
    std::map<int, std::uint64_t> counts; // by the exponent of the upper bound
    for (const auto& bucket : histogram.buckets) {
        int exponent = 0;
        if (std::frexp(bucket.upper, &exponent) == 0.5) {
            --exponent; // a power of two is the bound of its own bar
        }
        counts[exponent] += bucket.count;
    }
    int step = 1;
    const int span = counts.empty() ? 0 : counts.rbegin()->first - counts.begin()->first;
    while (span / step >= static_cast<int>(most_bars)) {
        step *= 2;
    }
    if (counts.empty()) {
        return shown;
    }
    auto next = counts.begin();
    for (int upper = next->first + step - 1; next != counts.end(); upper += step) {
        std::uint64_t count = 0;
        for (; next != counts.end() && next->first <= upper; ++next) {
            count += next->second;
        }
        shown.bars.push_back({"<= " + length_text(std::ldexp(1, upper)), count});
    }
    return shown;
}

std::vector<Cell> histogram_row(const HistogramSnapshot& histogram,
                                const std::optional<double>& rate) {
    std::vector<Cell> row{
        {.text = title_of(histogram), .style = Style::strong},
        {.text = count_text(histogram.count), .order = static_cast<double>(histogram.count)},
        {.text = rate_text(rate), .order = rate.value_or(-1)}};
    for (const double value :
         {histogram.min, histogram.p50, histogram.p90, histogram.p99, histogram.max}) {
        const bool is_known = histogram.count != 0 && value >= 0;
        row.push_back({.text = is_known ? length_text(value) : "-", .order = value});
    }
    return row;
}

/// `rate`: of a histogram, how much it counted a second.
template <typename Rate>
Page page_of(const char* name, const std::vector<HistogramSnapshot>& histograms, const Rate& rate) {
    constexpr std::size_t least_title = 16;
    Page page{.name = name};
    page.table.columns = {{.title = "length of time", .least = least_title}};
    for (const char* title : {"count", "per s", "min", "p50", "p90", "p99", "max"}) {
        page.table.columns.push_back({.title = title, .is_number = true});
    }
    std::vector<const HistogramSnapshot*> shown;
    for (const HistogramSnapshot& each : histograms) {
        shown.push_back(&each);
    }
    std::stable_sort(shown.begin(), shown.end(),
                     [](const auto* a, const auto* b) { return rank_of(*a) < rank_of(*b); });
    for (const HistogramSnapshot* each : shown) {
        page.table.rows.push_back(histogram_row(*each, rate(*each)));
        if (each->count != 0) {
            page.bars.push_back(bars_of(*each));
        }
    }
    return page;
}

} // namespace

Page histograms_page(const ProcessorChange& change) {
    return page_of("Histograms", change.now.histograms,
                   [&change](const HistogramSnapshot& each) -> std::optional<double> {
                       const HistogramSnapshot* before =
                           change.before != nullptr ? find_same(change.before->histograms, each)
                                                    : nullptr;
                       return before != nullptr
                                  ? rate_of(static_cast<double>(before->count),
                                            static_cast<double>(each.count), change.seconds)
                                  : std::nullopt;
                   });
}

Page recent_page(const std::vector<HistogramSnapshot>& recent, double seconds) {
    Page page = page_of("Last minute", recent, [seconds](const HistogramSnapshot& each) {
        return rate_of(0, static_cast<double>(each.count), seconds);
    });
    page.head = {
        {{"The last " + length_text(seconds) + ". Quantiles are upper bounds.", Style::dim}}};
    return page;
}

} // namespace sessionq::cli
