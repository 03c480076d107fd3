// SPDX-License-Identifier: MIT
#include <algorithm>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// A scheduled message is not available before its time. Once confirmed it stays, once for every
/// attempt that may have had an effect. After a confirmed cancellation it never becomes available.
/// A cancellation is not refused while it is possible.
class ScheduleOracle final : public Oracle {
public:
    explicit ScheduleOracle(Environment& environment) : environment_{environment} {}

    void schedule_taken(const ScheduledRecord& record) override {
        if (record.taken > record.unknown + (record.is_under_way || record.is_confirmed ? 1 : 0)) {
            report(record, "is there " + std::to_string(record.taken) +
                               " times, and was not scheduled as often");
        }
    }

    void schedule_confirmed(const ScheduledRecord& record, std::int64_t sequence) override {
        const ScheduledRecord::Copy* copy = find(record, sequence);
        if (copy == nullptr || !copy->is_kept) {
            report(record, "is confirmed as #" + std::to_string(sequence) +
                               ", and the broker does not have it for good");
        }
    }

    void schedule_due(const ScheduledRecord& record, const ScheduledRecord::Copy& copy) override {
        if (environment_.scheduler.wall_now() < record.due) {
            report(record, "is there before its time");
        }
        if (copy.is_cancelled) {
            report(record, "is there though it was cancelled");
        }
    }

    void cancel_answered(const ScheduledRecord& record, std::int64_t sequence,
                         bool found) override {
        const ScheduledRecord::Copy* copy = find(record, sequence);
        if (copy != nullptr && !copy->is_over) {
            report(record, found ? "was cancelled, and still waits"
                                 : "waits, and its cancelling is refused");
        }
    }

private:
    static const ScheduledRecord::Copy* find(const ScheduledRecord& record, std::int64_t sequence) {
        const auto found =
            std::ranges::find(record.copies, sequence, &ScheduledRecord::Copy::sequence);
        return found != record.copies.end() ? &*found : nullptr;
    }

    void report(const ScheduledRecord& record, const std::string& text) {
        environment_.verdict.report("(n) scheduling", "message '" + record.id + "' for " +
                                                          record.session + " " + text);
    }

    Environment& environment_;
};

} // namespace

std::unique_ptr<Oracle> make_schedule_oracle(Environment& environment, const Expectations&) {
    return std::make_unique<ScheduleOracle>(environment);
}

} // namespace sessionq::simulation
