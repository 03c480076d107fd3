// SPDX-License-Identifier: MIT
#include "core/trace_context.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace sessionq;

namespace {

const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const std::string another = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-00";

bool is_valid(const std::string& traceparent) {
    return TraceContext::parse(traceparent).has_value();
}

std::string with(std::size_t at, char c) {
    std::string changed = parent;
    changed[at] = c;
    return changed;
}

ReceivedMessage received(Properties properties) {
    return {std::make_shared<const DecodedContent>(Message{.properties = std::move(properties)}),
            {}};
}

} // namespace

TEST_CASE("trace context: a traceparent of version 00 has exactly its four fields") {
    CHECK(TraceContext::parse(parent) == TraceContext{.traceparent = parent});
    CHECK(is_valid(another));
    CHECK_FALSE(is_valid(""));
    CHECK_FALSE(is_valid(parent.substr(0, 54)));
    CHECK_FALSE(is_valid(parent + "-"));
    CHECK_FALSE(is_valid(parent + "-00"));
    for (const std::size_t hyphen : {2, 35, 52}) {
        CHECK_FALSE(is_valid(with(hyphen, '0')));
    }
    for (const std::size_t digit : {0, 1, 3, 34, 36, 51, 53, 54}) {
        CHECK_FALSE(is_valid(with(digit, 'g')));
        CHECK_FALSE(is_valid(with(digit, 'A')));
        CHECK_FALSE(is_valid(with(digit, '-')));
    }
    CHECK_FALSE(is_valid("00-00000000000000000000000000000000-b7ad6b7169203331-01"));
    CHECK_FALSE(is_valid("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"));
    CHECK_FALSE(is_valid("|4bf92f3577b34da6a3ce929d0e0e4736.1.")); // of an older protocol
}

TEST_CASE("trace context: a later version may have more fields, and none is version ff") {
    const std::string later = with(1, '1');
    CHECK(is_valid(later));
    CHECK(TraceContext::parse(later + "-what-the-future-holds")->traceparent ==
          later + "-what-the-future-holds");
    CHECK_FALSE(is_valid(later + "."));
    CHECK_FALSE(is_valid(later + "-\n"));
    CHECK(is_valid(later + "-" + std::string(512 - 56, 'x')));
    CHECK_FALSE(is_valid(later + "-" + std::string(513 - 56, 'x')));
    CHECK_FALSE(is_valid("ff" + parent.substr(2)));
}

TEST_CASE("trace context: a tracestate that is too long or not printable is dropped") {
    const auto state = [](const std::string& tracestate) {
        return TraceContext::parse(parent, tracestate)->tracestate;
    };
    CHECK(state("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE") ==
          "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
    CHECK(state(std::string(512, 'x')).size() == 512);
    CHECK(state(std::string(513, 'x')).empty());
    CHECK(state("a=\n").empty());
    CHECK(state("a=\xff").empty());
    CHECK(state(std::string{"a=\0", 3}).empty());
}

TEST_CASE("trace context: a message carries it in the properties that other clients read") {
    Properties properties{{"mine", true}};
    core::add_trace({.traceparent = parent, .tracestate = "a=1"}, properties);
    CHECK(properties == Properties{{"Diagnostic-Id", parent},
                                   {"mine", true},
                                   {"traceparent", parent},
                                   {"tracestate", std::string{"a=1"}}});
    CHECK(received(properties).trace() == TraceContext{.traceparent = parent, .tracestate = "a=1"});
    Properties stateless;
    core::add_trace({.traceparent = parent}, stateless);
    CHECK(stateless == Properties{{"Diagnostic-Id", parent}, {"traceparent", parent}});
}

TEST_CASE("trace context: an invalid one is not sent, nor one beside the application's own") {
    Properties none;
    core::add_trace({.traceparent = "00-1", .tracestate = "a=1"}, none);
    CHECK(none.empty());
    for (const char* name : {"traceparent", "tracestate", "Diagnostic-Id"}) {
        Properties own{{name, std::string{"own"}}};
        core::add_trace({.traceparent = parent, .tracestate = "a=1"}, own);
        CHECK(own == Properties{{name, std::string{"own"}}});
    }
}

TEST_CASE("trace context: a message's traceparent counts before its Diagnostic-Id") {
    CHECK_FALSE(received({}).trace().has_value());
    CHECK(received({{"Diagnostic-Id", another}, {"tracestate", std::string{"a=1"}}}).trace() ==
          TraceContext{.traceparent = another});
    CHECK(received({{"Diagnostic-Id", another}, {"traceparent", parent}}).trace() ==
          TraceContext{.traceparent = parent});
    CHECK(received({{"Diagnostic-Id", another}, {"traceparent", std::string{"own"}}}).trace() ==
          TraceContext{.traceparent = another});
    CHECK_FALSE(received({{"traceparent", std::int64_t{7}}}).trace().has_value());
    CHECK_FALSE(received({{"tracestate", std::string{"a=1"}}}).trace().has_value());
}

TEST_CASE("trace context: properties that are to be sent have one, or nearly") {
    CHECK_FALSE(core::has_trace({}));
    CHECK(core::has_trace({{"Diagnostic-Id", std::int64_t{7}}}));
    CHECK_FALSE(core::trace_in({{"Diagnostic-Id", std::int64_t{7}}}).has_value());
    Properties properties;
    core::add_trace({.traceparent = parent, .tracestate = "a=1"}, properties);
    CHECK(core::has_trace(properties));
    CHECK(core::trace_in(properties) == TraceContext{.traceparent = parent, .tracestate = "a=1"});
}

TEST_CASE("trace context: a handler's context keeps its deadline and takes the message's trace") {
    const OperationContext due{Deadline::at(TimePoint{} + std::chrono::hours{1})};
    const OperationContext traced = core::under_trace_of(received({{"traceparent", parent}}), due);
    REQUIRE(traced.trace() != nullptr);
    CHECK(traced.trace()->traceparent == parent);
    CHECK(traced.deadline() == due.deadline());
    CHECK(core::under_trace_of(received({}), due).trace() == nullptr);
    const OperationContext in_span = due.with_trace({.traceparent = another});
    const OperationContext kept =
        core::under_trace_of(received({{"traceparent", parent}}), in_span);
    CHECK(kept.trace()->traceparent == another);
}
