// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/processor_snapshot.hpp"

#include <algorithm>
#include <cmath>

#include "tools/sessionq/live/bounded_json.hpp"

namespace sessionq::cli {
namespace {

const Json& member(const Json& object, const char* name) {
    static const Json nothing;
    const auto found = object.is_object() ? object.find(name) : object.end();
    return object.is_object() && found != object.end() ? *found : nothing;
}

std::string text_in(const Json& object, const char* name) {
    const Json& found = member(object, name);
    return found.is_string() ? found.get<std::string>() : std::string{};
}

double number_in(const Json& object, const char* name) {
    const Json& found = member(object, name);
    return found.is_number() ? found.get<double>() : 0;
}

std::uint64_t count_in(const Json& object, const char* name) {
    constexpr double too_many = 1.8e19;
    const Json& found = member(object, name);
    if (found.is_number_unsigned()) {
        return found.get<std::uint64_t>();
    }
    const double value = number_in(object, name);
    return value > 0 && value < too_many ? static_cast<std::uint64_t>(value) : 0;
}

/// Calls `visit` with each object of an array.
template <typename Visit>
void each_object_in(const Json& object, const char* name, const Visit& visit) {
    const Json& found = member(object, name);
    if (found.is_array()) {
        for (const Json& element : found) {
            if (element.is_object()) {
                visit(element);
            }
        }
    }
}

std::vector<SlotSnapshot> slots_in(const Json& processor, const char* name) {
    std::vector<SlotSnapshot> slots;
    each_object_in(processor, name, [&slots](const Json& slot) {
        slots.push_back({.entity = text_in(slot, "entity"),
                         .session_id = text_in(slot, "session_id"),
                         .state = text_in(slot, "state"),
                         .waits_for = text_in(slot, "waits_for"),
                         .since = number_in(slot, "since"),
                         .window = count_in(slot, "window"),
                         .in_flight = count_in(slot, "in_flight"),
                         .running = count_in(slot, "running"),
                         .ready_for = number_in(slot, "ready_for")});
    });
    return slots;
}

HistogramSnapshot histogram_of(const std::string& name, const Json& point) {
    HistogramSnapshot found{.name = name,
                            .count = count_in(point, "count"),
                            .sum = number_in(point, "sum"),
                            .min = number_in(point, "min"),
                            .max = number_in(point, "max"),
                            .p50 = number_in(point, "p50"),
                            .p90 = number_in(point, "p90"),
                            .p99 = number_in(point, "p99")};
    if (const Json& attributes = member(point, "attributes"); attributes.is_object()) {
        for (const auto& [key, value] : attributes.items()) {
            found.attributes.emplace_back(key, value.is_string() ? value.get<std::string>()
                                                                 : std::string{});
        }
    }
    each_object_in(point, "buckets", [&found](const Json& bucket) {
        found.buckets.push_back(
            {.upper = number_in(bucket, "upper"), .count = count_in(bucket, "count")});
    });
    return found;
}

void read_health(ProcessorSnapshot& snapshot, const Json& health) {
    snapshot.health = text_in(health, "state");
    each_object_in(health, "reasons", [&snapshot](const Json& reason) {
        snapshot.reasons.push_back({.cause = text_in(reason, "cause"),
                                    .entity = text_in(reason, "entity"),
                                    .session_id = text_in(reason, "session_id"),
                                    .detail = text_in(reason, "detail"),
                                    .advice = text_in(reason, "advice"),
                                    .count = count_in(reason, "count"),
                                    .since = number_in(reason, "since")});
    });
}

void read_processor(ProcessorSnapshot& snapshot, const Json& processor) {
    snapshot.state = text_in(processor, "state");
    if (const Json& entities = member(processor, "entities"); entities.is_array()) {
        for (const Json& entity : entities) {
            if (entity.is_string()) {
                snapshot.entities.push_back(entity.get<std::string>());
            }
        }
    }
    read_health(snapshot, member(processor, "health"));
    snapshot.buffered_bytes = count_in(processor, "buffered_bytes");
    if (const Json& counters = member(processor, "counters"); counters.is_object()) {
        for (const auto& [name, value] : counters.items()) {
            if (value.is_number()) {
                snapshot.counters.emplace_back(name, value.get<double>());
            }
        }
    }
    snapshot.has_slots = member(processor, "slots").is_array();
    snapshot.slots = slots_in(processor, "slots");
    snapshot.parked = slots_in(processor, "parked");
    snapshot.settling = slots_in(processor, "settling");
}

void check_version(const Json& document) {
    const Json& version = member(document, "version");
    if (version.is_number() && version.get<double>() >= 2) {
        throw SnapshotError{"the description has version " + version.dump() +
                            "; expected 1; use the sessionq of the processor's version"};
    }
}

} // namespace

double counter(const ProcessorSnapshot& snapshot, std::string_view name) {
    const auto found = std::ranges::find_if(
        snapshot.counters, [name](const auto& each) { return each.first == name; });
    return found != snapshot.counters.end() ? found->second : 0;
}

ProcessorSnapshot parse_processor_snapshot(std::string_view document) {
    const auto json = parse_bounded_json(document);
    if (!json || !member(*json, "processor").is_object()) {
        throw SnapshotError{"what came is no description of a processor"};
    }
    check_version(*json);
    ProcessorSnapshot snapshot;
    snapshot.time = text_in(*json, "time");
    read_processor(snapshot, member(*json, "processor"));
    each_object_in(*json, "metrics", [&snapshot](const Json& metric) {
        if (text_in(metric, "kind") == "histogram") {
            each_object_in(metric, "points", [&](const Json& point) {
                snapshot.histograms.push_back(histogram_of(text_in(metric, "name"), point));
            });
        }
    });
    return snapshot;
}

} // namespace sessionq::cli
