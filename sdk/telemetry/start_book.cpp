// SPDX-License-Identifier: MIT
#include "telemetry/start_book.hpp"

namespace sessionq::telemetry {

WallTime StartBook::start(const std::string& name, const MetricPoint& point, double total,
                          WallTime now) {
    Values values;
    values.reserve(point.attributes.size());
    for (const MetricAttribute& each : point.attributes) {
        values.emplace_back(each.name, each.value);
    }
    Entry& entry =
        entries_.try_emplace({name, std::move(values)}, Entry{.start = made_}).first->second;
    if (total < entry.total) {
        entry.start = entry.seen;
    }
    entry.total = total;
    entry.seen = now;
    return entry.start;
}

} // namespace sessionq::telemetry
