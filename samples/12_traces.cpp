// SPDX-License-Identifier: MIT
// Traces: a tracer that prints spans to the terminal. One trace runs from an order to its bill. An
// adapter to a tracing library looks the same: it makes the spans and their ids.

#include <chrono>
#include <iomanip>
#include <iostream>
#include <latch>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <syncstream>
#include <variant>

#include <sessionq/sessionq.hpp>

using namespace std::chrono_literals;

namespace {

std::string random_hexadecimal(int digits) {
    thread_local std::mt19937_64 random{std::random_device{}()};
    std::ostringstream text;
    text << std::hex << std::setfill('0');
    for (; digits > 0; digits -= 16) {
        text << std::setw(16) << (random() | 1U); // never all zeros
    }
    return text.str();
}

/// W3C's traceparent: version, trace id, span id, flags. A child stays in its parent's trace.
sessionq::TraceContext context_for(const sessionq::TraceContext* parent) {
    const std::string trace_id =
        parent == nullptr ? random_hexadecimal(32) : parent->traceparent.substr(3, 32);
    return {.traceparent = "00-" + trace_id + "-" + random_hexadecimal(16) + "-01",
            .tracestate = parent == nullptr ? "" : parent->tracestate};
}

std::string_view span_id(const sessionq::TraceContext& context) {
    return std::string_view{context.traceparent}.substr(36, 4);
}

class PrintedSpan final : public sessionq::Span {
public:
    explicit PrintedSpan(const sessionq::SpanStart& start)
        : context_{context_for(start.parent)}, start_{start.start} {
        line_ << "trace " << std::string_view{context_.traceparent}.substr(3, 4) << " span "
              << span_id(context_) << " of "
              << (start.parent == nullptr ? "----" : span_id(*start.parent)) << "  " << std::left
              << std::setw(16) << start.name << std::setw(9) << to_string(start.kind);
        for (const sessionq::SpanAttribute& each : start.attributes) {
            set_attribute(each);
        }
    }

    const sessionq::TraceContext& context() const noexcept override { return context_; }

    void set_attribute(const sessionq::SpanAttribute& attribute) override {
        if (attribute.name == "sessionq.session.id" ||
            attribute.name == "messaging.servicebus.disposition_status") {
            line_ << ' ' << std::get<std::string>(attribute.value);
        }
    }

    void end(const sessionq::SpanEnd& how) override {
        if (!how.error_type.empty()) {
            line_ << "  " << how.error_type << ": " << how.error_text;
        }
        const auto took = std::chrono::duration_cast<std::chrono::microseconds>(how.end - start_);
        std::osyncstream{std::cout} << line_.str() << "  " << took.count() << " us\n";
    }

private:
    sessionq::TraceContext context_;
    sessionq::TimePoint start_;
    std::ostringstream line_{};
};

class PrintingTracer final : public sessionq::Tracer {
public:
    std::unique_ptr<sessionq::Span> start_span(const sessionq::SpanStart& start) override {
        return std::make_unique<PrintedSpan>(start);
    }
};

} // namespace

int main() {
    sessionq::LocalBroker broker;
    broker.create_queue("orders");
    broker.create_queue("bills");
    const auto client =
        sessionq::Client::in_process(broker, {.tracer = std::make_shared<PrintingTracer>()});

    sessionq::Sender bills_sender{client, "bills"};
    sessionq::SessionProcessor orders{
        client,
        "orders",
        {.failure_policy = sessionq::FailurePolicy::dead_letter().after_attempts(2)}};
    orders.on_message([&](sessionq::MessageContext& context) {
        if (context.attempt() == 1) {
            throw std::runtime_error{"the warehouse is closed"}; // its next try is another span
        }
        bills_sender.send(
            sessionq::Message::of("bill").in_session("ada")); // belongs to this handler's span
    });
    std::latch billed{1};
    sessionq::SessionProcessor bills{client, "bills"};
    bills.on_message([&](sessionq::MessageContext&) { billed.count_down(); });
    orders.start();
    bills.start();

    // A service would take this from the request that it serves.
    const auto request = sessionq::OperationContext{}.with_trace(context_for(nullptr));
    sessionq::Sender{client, "orders"}.send(sessionq::Message::of("order").in_session("ada"),
                                            {.context = request});
    billed.wait();
    orders.stop();
    bills.stop();
}
