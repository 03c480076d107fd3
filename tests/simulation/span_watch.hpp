// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <sessionq/testing/recording_tracer.hpp>

#include "core/tracing.hpp"
#include "simulation/oracle.hpp"

namespace sessionq::simulation {

/// A tracer for a run, and what its spans must be: each ends once, no earlier than it began, and
/// each call of a handler is one.
class SpanWatch {
public:
    [[nodiscard]] core::TracingPtr trace(const core::Clock& clock) {
        spans_ = std::make_shared<testing::RecordingTracer>();
        return std::make_shared<const core::Tracing>(spans_, clock, core::SpanBroker{});
    }

    /// At the end of the run. `handlers`: how many messages were handled; in batches, a span is for
    /// several. No effect without `trace`.
    void check(Verdict& verdict, std::uint64_t handlers, bool batches) const {
        if (spans_ == nullptr) {
            return;
        }
        if (spans_->open() != 0) {
            verdict.report("(r) spans", std::to_string(spans_->open()) + " spans have not ended");
        }
        std::uint64_t handled = 0;
        for (const testing::RecordedSpan& each : spans_->spans()) {
            handled += each.name.starts_with("process ") ? 1U : 0U;
            if (each.end < each.start) {
                verdict.report("(r) spans", each.name + " ended before it began");
            }
        }
        if (batches ? handled > handlers : handled != handlers) {
            verdict.report("(r) spans", std::to_string(handled) + " spans of " +
                                            std::to_string(handlers) + " handlers");
        }
    }

private:
    std::shared_ptr<testing::RecordingTracer> spans_{}; ///< null: this run has no tracer
};

} // namespace sessionq::simulation
