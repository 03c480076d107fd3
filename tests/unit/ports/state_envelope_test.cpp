// SPDX-License-Identifier: MIT
#include "ports/state_envelope.hpp"

#include <doctest/doctest.h>

using namespace sessionq::ports;

namespace {

using State = std::optional<std::string>;

State sealed(State application, std::string record) {
    return StateEnvelope{.application = std::move(application), .record = std::move(record)}.seal();
}

} // namespace

TEST_CASE("state envelope: without a record the state is the application's, byte for byte") {
    for (const State& state : {State{}, State{"half way"}, State{"\x89SQSTAT"}}) {
        CHECK(sealed(state, "") == state);
        const StateEnvelope opened = StateEnvelope::open(state);
        CHECK(opened.application == state);
        CHECK(opened.record.empty());
    }
}

TEST_CASE("state envelope: what was sealed opens to the same parts") {
    for (const State& state : {State{}, State{"half way"}, State{std::string(300, '\0')}}) {
        const State kept = sealed(state, "until noon");
        REQUIRE(kept);
        CHECK(kept->starts_with("\x89SQSTATE\x01"));
        const StateEnvelope opened = StateEnvelope::open(kept);
        CHECK(opened.application == state);
        CHECK(opened.record == "until noon");
        CHECK(StateEnvelope{opened}.seal() == kept);
    }
}

TEST_CASE("state envelope: an empty state is none, whoever wrote it") {
    CHECK_FALSE(sealed("", ""));
    CHECK(sealed("", "me") == sealed(State{}, "me"));
    CHECK_FALSE(StateEnvelope::open("").application);
    std::string empty = *sealed(State{}, "me");
    empty[9] = 1; // the application has a state, of no bytes
    CHECK_FALSE(StateEnvelope::open(empty).application);
    CHECK(StateEnvelope::open(empty).record == "me");
}

TEST_CASE("state envelope: the bytes are those that the header documents") {
    CHECK(sealed("app", "me") == std::string{"\x89SQSTATE\x01\x01\0\0\0\x02me"
                                             "app",
                                             19});
    CHECK(sealed(State{}, "me") == std::string{"\x89SQSTATE\x01\x00\0\0\0\x02me", 16});
}

TEST_CASE("state envelope: an application's state that looks like an envelope is kept as it is") {
    const std::string mimic = *sealed("inner", "record");
    const State kept = sealed(mimic, "");
    CHECK(kept != mimic);
    CHECK(StateEnvelope::open(kept).application == mimic);
    CHECK(StateEnvelope::open(kept).record.empty());
}

TEST_CASE("state envelope: bytes that are no whole envelope are the application's") {
    const std::string whole = *sealed(State{}, "record");
    for (std::size_t length = 1; length < whole.size(); ++length) {
        CAPTURE(length);
        const State cut = whole.substr(0, length);
        CHECK(StateEnvelope::open(cut).application == cut);
        CHECK(StateEnvelope::open(cut).record.empty());
    }
    const State longer = whole + "x"; // says that there is no application's state
    CHECK(StateEnvelope::open(longer).application == longer);
    std::string later = whole;
    later[8] = 2; // a layout of a later version
    CHECK(StateEnvelope::open(later).application == later);
}
