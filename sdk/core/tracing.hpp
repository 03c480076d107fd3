// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include <sessionq/error.hpp>
#include <sessionq/tracer.hpp>

#include "core/clock.hpp"
#include "core/span_plan.hpp"

namespace sessionq::core {

class Tracing;

/// For code that may run after the span. Expired: there is none, or it has ended.
using SpanHandle = std::weak_ptr<Span>;

/// Calls `Span::enter` and returns its result. Null: there is no span, or it throws.
[[nodiscard]] std::shared_ptr<void> enter_span(const SpanHandle& handle) noexcept;

/// A span, or none. Ends it when destroyed, as `cancelled`, if nothing else did. Never throws.
class OpenSpan {
public:
    OpenSpan() = default;
    OpenSpan(std::shared_ptr<const Tracing> tracing, std::unique_ptr<Span> span) noexcept
        : tracing_{std::move(tracing)}, span_{std::move(span)} {}
    ~OpenSpan() { end("cancelled"); }
    OpenSpan(OpenSpan&&) noexcept = default;
    OpenSpan& operator=(OpenSpan&& other) noexcept {
        end("cancelled");
        tracing_ = std::move(other.tracing_);
        span_ = std::move(other.span_);
        return *this;
    }

    [[nodiscard]] bool is_open() const noexcept { return span_ != nullptr; }

    /// Null: there is none.
    [[nodiscard]] const TraceContext* context() const noexcept {
        return span_ == nullptr ? nullptr : &span_->context();
    }

    [[nodiscard]] SpanHandle handle() const noexcept { return span_; }
    [[nodiscard]] std::shared_ptr<void> enter() const noexcept {
        return span_ == nullptr ? nullptr : enter_span(span_);
    }

    /// Without an error if `error_type` is empty.
    void end(std::string_view error_type = {}, std::string_view text = {}) noexcept {
        if (span_ != nullptr) {
            finish(error_type, text);
        }
    }
    /// Null: without an error.
    void end(const Failure* failure) noexcept {
        if (span_ != nullptr) {
            finish_with(failure);
        }
    }

private:
    void finish(std::string_view error_type, std::string_view text) noexcept;
    void finish_with(const Failure* failure) noexcept;

    std::shared_ptr<const Tracing> tracing_{};
    std::shared_ptr<Span> span_{};
};

/// Performs the decisions of a `SpanPlan`, with the application's tracer. Spans keep it.
///
/// Thread safety: safe.
class Tracing : public std::enable_shared_from_this<Tracing> {
public:
    Tracing(std::shared_ptr<Tracer> tracer, const Clock& clock, SpanBroker broker)
        : tracer_{std::move(tracer)}, clock_{clock}, plan_{std::move(broker)} {}

    [[nodiscard]] const SpanPlan& plan() const noexcept { return plan_; }
    [[nodiscard]] const Clock& clock() const noexcept { return clock_; }

    /// Starts the span that `draft(plan)` returns, now. No span if it or the tracer throws.
    template <typename Draft>
    [[nodiscard]] OpenSpan start(Draft draft) const noexcept {
        return start_at(clock_.now(), draft);
    }
    /// The same for a span that began earlier.
    template <typename Draft>
    [[nodiscard]] OpenSpan start_at(TimePoint began, Draft draft) const noexcept {
        try {
            return begin(draft(plan_), began);
        } catch (...) {
            log_failure();
            return {};
        }
    }

    static void log_failure() noexcept;

private:
    [[nodiscard]] OpenSpan begin(const SpanDraft& draft, TimePoint began) const;

    const std::shared_ptr<Tracer> tracer_;
    const Clock& clock_;
    const SpanPlan plan_;
};

using TracingPtr = std::shared_ptr<const Tracing>; ///< Null: there is no tracer.

} // namespace sessionq::core
