// SPDX-License-Identifier: MIT
#include "core/tracing.hpp"

#include "core/log.hpp"

namespace sessionq::core {

std::shared_ptr<void> enter_span(const SpanHandle& handle) noexcept {
    try {
        const std::shared_ptr<Span> span = handle.lock();
        return span == nullptr ? nullptr : span->enter();
    } catch (...) {
        Tracing::log_failure();
        return nullptr;
    }
}

void OpenSpan::finish(std::string_view error_type, std::string_view text) noexcept {
    const std::shared_ptr<Span> span = std::move(span_);
    try {
        span->end({.end = tracing_->clock().now(), .error_type = error_type, .error_text = text});
    } catch (...) {
        Tracing::log_failure();
    }
}

void OpenSpan::finish_with(const Failure* failure) noexcept {
    if (failure == nullptr) {
        finish({}, {});
        return;
    }
    try {
        finish(to_string(failure->code), failure->to_string());
    } catch (...) { // out of memory
        finish(to_string(failure->code), {});
    }
}

OpenSpan Tracing::begin(const SpanDraft& draft, TimePoint began) const {
    const auto ago = std::chrono::duration_cast<WallTime::duration>(clock_.now() - began);
    return {shared_from_this(),
            tracer_->start_span({.name = draft.name,
                                 .kind = draft.kind,
                                 .parent = draft.parent ? &*draft.parent : nullptr,
                                 .links = draft.links,
                                 .attributes = draft.attributes,
                                 .start = began,
                                 .wall_start = clock_.wall_now() - ago})};
}

void Tracing::log_failure() noexcept {
    log(LogLevel::error, "tracing", "the tracer threw an exception; the span is incomplete");
}

} // namespace sessionq::core
