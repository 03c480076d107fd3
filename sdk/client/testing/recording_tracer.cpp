// SPDX-License-Identifier: MIT
#include <sessionq/testing/recording_tracer.hpp>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <utility>

namespace sessionq::inline v1::testing {
namespace {

constexpr std::size_t trace_id_at = 3; // in a traceparent: version, trace id, parent id, flags
constexpr std::size_t trace_id_length = 32;
constexpr std::size_t flags_at = 53;

std::string hexadecimal(std::uint64_t number) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
    return text.data();
}

TraceContext child_of(const TraceContext* parent, std::uint64_t number) {
    const auto valid = parent == nullptr
                           ? std::nullopt
                           : TraceContext::parse(parent->traceparent, parent->tracestate);
    const std::string id = hexadecimal(number);
    if (!valid) {
        return {.traceparent = "00-" + hexadecimal(0) + id + "-" + id + "-01"};
    }
    return {.traceparent = "00-" + valid->traceparent.substr(trace_id_at, trace_id_length) + "-" +
                           id + "-" + valid->traceparent.substr(flags_at, 2),
            .tracestate = valid->tracestate};
}

} // namespace

/// The spans that have ended. A span that ends after its tracer is not recorded.
struct RecordingTracer::Book {
    std::mutex mutex{};
    std::condition_variable ended{};
    std::uint64_t started{0};
    std::size_t open{0};
    std::vector<RecordedSpan> spans{};
};

/// A span that the library has begun. Its end adds it to the book.
class RecordingTracer::Recorded final : public Span {
public:
    Recorded(std::weak_ptr<Book> book, RecordedSpan span)
        : book_{std::move(book)}, span_{std::move(span)} {}

    [[nodiscard]] const TraceContext& context() const noexcept override { return span_.context; }
    void set_attribute(const SpanAttribute& attribute) override {
        span_.attributes.insert_or_assign(std::string{attribute.name}, attribute.value);
    }
    void end(const SpanEnd& how) override {
        span_.end = how.end;
        span_.error_type = how.error_type;
        span_.error_text = how.error_text;
        if (const auto book = book_.lock()) {
            const std::lock_guard lock{book->mutex};
            --book->open;
            book->spans.push_back(std::move(span_));
            book->ended.notify_all();
        }
    }

private:
    std::weak_ptr<Book> book_;
    RecordedSpan span_;
};

RecordingTracer::RecordingTracer() : book_{std::make_shared<Book>()} {}
RecordingTracer::~RecordingTracer() = default;

std::unique_ptr<Span> RecordingTracer::start_span(const SpanStart& start) {
    RecordedSpan span{.name = std::string{start.name},
                      .kind = start.kind,
                      .links = {start.links.begin(), start.links.end()},
                      .start = start.start,
                      .wall_start = start.wall_start};
    if (start.parent != nullptr) {
        span.parent = *start.parent;
    }
    for (const SpanAttribute& each : start.attributes) {
        span.attributes.insert_or_assign(std::string{each.name}, each.value);
    }
    const std::lock_guard lock{book_->mutex};
    span.context = child_of(start.parent, ++book_->started);
    auto made = std::make_unique<Recorded>(book_, std::move(span));
    ++book_->open;
    return made;
}

std::vector<RecordedSpan> RecordingTracer::spans() const {
    const std::lock_guard lock{book_->mutex};
    return book_->spans;
}

std::vector<RecordedSpan> RecordingTracer::wait_for(std::size_t count, Duration timeout) const {
    std::unique_lock lock{book_->mutex};
    book_->ended.wait_for(lock, timeout, [&] { return book_->spans.size() >= count; });
    return book_->spans;
}

std::size_t RecordingTracer::open() const {
    const std::lock_guard lock{book_->mutex};
    return book_->open;
}

void RecordingTracer::clear() {
    const std::lock_guard lock{book_->mutex};
    book_->spans.clear();
}

} // namespace sessionq::inline v1::testing
