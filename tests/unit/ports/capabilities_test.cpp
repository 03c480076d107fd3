// SPDX-License-Identifier: MIT
#include "ports/capabilities.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include <sessionq/error.hpp>

using namespace sessionq;
using ports::Capabilities;
using ports::Capability;

TEST_CASE("capabilities: what was declared and nothing else") {
    const Capabilities some{"broker", {Capability::accept_next, Capability::receive_and_delete}};
    CHECK(some.broker() == "broker");
    CHECK(some.has(Capability::accept_next));
    CHECK(some.has(Capability::receive_and_delete));
    CHECK_FALSE(some.has(Capability::accept_named));
    CHECK_FALSE(Capabilities{"none", {}}.has(Capability::accept_named));
    for (std::size_t i = 0; i <= static_cast<std::size_t>(ports::last_capability); ++i) {
        const auto only = static_cast<Capability>(i);
        CHECK(Capabilities{"one", {only}}.has(only));
    }
}

TEST_CASE("capabilities: a lack is an error that names broker and capability") {
    const Capabilities none{"groups", {}};
    CHECK_NOTHROW((Capabilities{"full", {Capability::defer}}.require(Capability::defer)));
    try {
        none.require(Capability::defer);
        FAIL("it did not throw");
    } catch (const Error& error) {
        CHECK(error.failure().code == Errc::not_supported);
        CHECK(error.failure().detail == "groups does not have: defer");
    }
}

TEST_CASE("capabilities: each has words of its own") {
    std::set<std::string> words;
    constexpr std::size_t count = static_cast<std::size_t>(ports::last_capability) + 1;
    for (std::size_t i = 0; i < count; ++i) {
        words.emplace(to_string(static_cast<Capability>(i)));
    }
    CHECK(words.size() == count);
    CHECK(words.count("unknown capability") == 0);
}
