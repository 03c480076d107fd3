// SPDX-License-Identifier: MIT
#include <sessionq/completion.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "core/access.hpp"
#include "processor/message/exception_text.hpp"
#include "processor/message/handler_faults.hpp"

using namespace sessionq;

static_assert(!std::is_copy_constructible_v<Completion>);
static_assert(!std::is_copy_assignable_v<Completion>);
static_assert(std::is_nothrow_move_constructible_v<Completion>);
static_assert(std::is_nothrow_move_assignable_v<Completion>);

namespace {

/// What a handler's end told.
struct EndTold {
    int times{0};
    std::string text{};
    std::shared_ptr<detail::processor::HandlerFaults> faults{
        std::make_shared<detail::processor::HandlerFaults>()};

    Completion completion() {
        return detail::client::Access::make<Completion>(
            [this](std::exception_ptr error) {
                ++times;
                text = error ? detail::processor::exception_text(error) : "handled";
            },
            faults);
    }
};

} // namespace

TEST_CASE("completion: tells once how the handler ended, and later calls are counted") {
    EndTold told;
    {
        const Completion completion = told.completion();
        CHECK(completion);
        SUBCASE("done") {
            completion.done();
            CHECK(told.text == "handled");
        }
        SUBCASE("failed with an exception") {
            completion.failed(std::make_exception_ptr(std::runtime_error{"no paper"}));
            CHECK(told.text == "no paper");
        }
        SUBCASE("failed with a failure") {
            completion.failed({.code = Errc::quota_exceeded, .detail = "no paper"});
            CHECK(told.text == Error{Errc::quota_exceeded, "no paper"}.what());
        }
        CHECK_FALSE(completion);
        completion.done();
        completion.failed(std::make_exception_ptr(std::runtime_error{"late"}));
        CHECK(told.times == 1);
        CHECK(told.faults->repeated == 2);
    }
    CHECK(told.times == 1);
    CHECK(told.faults->dropped == 0);
}

TEST_CASE("completion: an exception that is null is a failure") {
    EndTold told;
    told.completion().failed(std::exception_ptr{});
    CHECK(told.text.find("null exception") != std::string::npos);
    CHECK(told.times == 1);
}

TEST_CASE("completion: a handler whose completion is dropped has failed") {
    EndTold told;
    SUBCASE("destroyed") {
        Completion first = told.completion();
        const Completion second = std::move(first);
        CHECK(second);
        CHECK(told.times == 0);
    }
    SUBCASE("replaced") {
        Completion first = told.completion();
        first = {};
        CHECK_FALSE(first);
        CHECK(told.times == 1);
    }
    CHECK(told.times == 1);
    CHECK(told.faults->dropped == 1);
    CHECK(told.text.find("destroyed and never used") != std::string::npos);
}

TEST_CASE("completion: one that was moved from ends nothing, and its use is counted") {
    EndTold told;
    Completion first = told.completion();
    Completion second;
    SUBCASE("by a construction") {
        const Completion other = std::move(first);
        first.done(); // NOLINT(bugprone-use-after-move): that is the test
        CHECK(told.times == 0);
        other.done();
    }
    SUBCASE("by an assignment") {
        second = std::move(first);
        first.done(); // NOLINT(bugprone-use-after-move): that is the test
        CHECK(told.times == 0);
        second.done();
    }
    CHECK_FALSE(first);
    CHECK(told.times == 1);
    CHECK(told.text == "handled");
    CHECK(told.faults->repeated == 1);
}

TEST_CASE("completion: an empty one ends nothing") {
    Completion completion;
    CHECK_FALSE(completion);
    completion.done();
    EndTold told;
    completion = told.completion();
    CHECK(completion);
    completion.done();
    CHECK(told.times == 1);
    CHECK(told.faults->repeated == 0);
}

TEST_CASE("completion: the end of a handler need not be copyable") {
    std::string told;
    Completion{[&told, text = std::make_unique<std::string>("ended")](std::exception_ptr) {
        told = *text;
    }}.done();
    CHECK(told == "ended");
}
