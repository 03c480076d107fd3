// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sessionq::cli {

/// A slot, or a session that is held without one. Lengths of time are seconds.
struct SlotSnapshot {
    std::string entity{};
    std::string session_id{};
    std::string state{};
    std::string waits_for{};
    double since{0};
    std::uint64_t window{0};
    std::uint64_t in_flight{0};
    std::uint64_t running{0};
    double ready_for{0};
};

struct ReasonSnapshot {
    std::string cause{};
    std::string entity{};
    std::string session_id{};
    std::string detail{};
    std::string advice{};
    std::uint64_t count{0};
    double since{0};
};

/// One point of a histogram.
struct HistogramSnapshot {
    struct Bucket {
        double upper{0};
        std::uint64_t count{0}; ///< Of this bucket alone.
    };
    std::string name{}; ///< Of the metric.
    std::vector<std::pair<std::string, std::string>> attributes{};
    std::uint64_t count{0};
    double sum{0};
    double min{0};
    double max{0};
    double p50{0};
    double p90{0};
    double p99{0};
    std::vector<Bucket> buckets{};
};

/// The description that a processor sent. Missing members are empty or zero.
struct ProcessorSnapshot {
    std::string time{};
    std::string state{};
    std::vector<std::string> entities{};
    std::string health{};
    std::vector<ReasonSnapshot> reasons{};
    std::uint64_t buffered_bytes{0};
    std::vector<std::pair<std::string, double>> counters{}; ///< In the order of the document.
    bool has_slots{false}; ///< Receive threads that do not answer leave them out.
    std::vector<SlotSnapshot> slots{};
    std::vector<SlotSnapshot> parked{};
    std::vector<SlotSnapshot> settling{};
    std::vector<HistogramSnapshot> histograms{};
};

/// Zero if the description has no such counter.
[[nodiscard]] double counter(const ProcessorSnapshot& snapshot, std::string_view name);

/// The document is no description of a processor.
class SnapshotError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Reads a description. Ignores unknown members and members of an unexpected type.
/// Throws SnapshotError if it is no JSON object with a member `processor`, or of a later version.
[[nodiscard]] ProcessorSnapshot parse_processor_snapshot(std::string_view document);

} // namespace sessionq::cli
