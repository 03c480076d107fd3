// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include <sessionq/tracer.hpp>

namespace sessionq::test {

/// Tells when a handler enters and leaves its spans.
struct EnteredTracer final : Tracer {
    struct EnteredSpan final : Span {
        explicit EnteredSpan(int& now) : inside{now} {}
        const TraceContext& context() const noexcept override { return none; }
        void set_attribute(const SpanAttribute& /*attribute*/) override {}
        std::shared_ptr<void> enter() override {
            ++inside;
            return {&inside, [](int* count) { --*count; }};
        }
        void end(const SpanEnd& /*how*/) override {}
        int& inside;
        TraceContext none{};
    };

    std::unique_ptr<Span> start_span(const SpanStart& /*start*/) override {
        return std::make_unique<EnteredSpan>(inside);
    }
    int inside{0};
};

/// Wants no span.
struct NoSpans final : Tracer {
    std::unique_ptr<Span> start_span(const SpanStart& /*start*/) override { return nullptr; }
};

} // namespace sessionq::test
