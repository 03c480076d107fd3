// SPDX-License-Identifier: MIT
#include <sessionq/handler_done.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "processor/message/exception_text.hpp"

using namespace sessionq;

namespace {

/// What a handler's end told.
struct EndTold {
    int times{0};
    std::string text{};

    HandlerDone done() {
        return HandlerDone{[this](std::exception_ptr error) {
            ++times;
            text = error ? detail::processor::exception_text(error) : "handled";
        }};
    }
};

} // namespace

TEST_CASE("handler done: tells once how the handler ended, whichever copy is called") {
    EndTold told;
    {
        const HandlerDone done = told.done();
        const HandlerDone copy = done; // NOLINT(performance-unnecessary-copy-initialization)
        SUBCASE("handled") {
            copy();
            CHECK(told.text == "handled");
        }
        SUBCASE("handled, as a null pointer") {
            copy(nullptr);
            CHECK(told.text == "handled");
        }
        SUBCASE("failed") {
            copy(std::make_exception_ptr(std::runtime_error{"no paper"}));
            CHECK(told.text == "no paper");
        }
        done();
        done(std::make_exception_ptr(std::runtime_error{"late"}));
        CHECK(told.times == 1);
    }
    CHECK(told.times == 1);
}

TEST_CASE("handler done: an exception that is null is a failure") {
    EndTold told;
    told.done()(std::exception_ptr{});
    CHECK(told.text.find("null") != std::string::npos);
    CHECK(told.times == 1);
}

TEST_CASE("handler done: a handler whose last copy is destroyed has failed") {
    EndTold told;
    {
        HandlerDone done = told.done();
        HandlerDone other = std::move(done);
        done = other;
        other = {};
        CHECK(told.times == 0);
    }
    CHECK(told.times == 1);
    CHECK(told.text.find("never called") != std::string::npos);
}

TEST_CASE("handler done: an empty one ends nothing") {
    HandlerDone done;
    CHECK_FALSE(done);
    EndTold told;
    done = told.done();
    CHECK(done);
    done();
}
