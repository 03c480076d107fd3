// SPDX-License-Identifier: MIT
#include <sessionq/time.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <ratio>
#include <type_traits>

#include <sessionq/call_options.hpp>
#include <sessionq/deadline.hpp>
#include <sessionq/processor_options.hpp>

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

using Halves = std::chrono::duration<std::int64_t, std::ratio<1, 2>>;

constexpr TimePoint time_start{std::chrono::hours{1}};

} // namespace

static_assert(std::is_convertible_v<std::chrono::milliseconds, Timeout>);
static_assert(std::is_convertible_v<Timeout, Duration>);
static_assert(!std::is_convertible_v<std::chrono::duration<double>, Timeout>);
static_assert(!std::is_convertible_v<int, Timeout>);

TEST_CASE("timeout: it is the duration that it was made from") {
    CHECK(Timeout{} == 0ns);
    CHECK(Timeout{5s} == 5s);
    CHECK(Timeout{-5s} == -5s);
    CHECK(Timeout{Halves{3}} == 1500ms);
    CHECK(Timeout{Duration::min()} == Duration::min());
    constexpr auto most_seconds = std::chrono::duration_cast<std::chrono::seconds>(Duration::max());
    CHECK(Timeout{most_seconds} == most_seconds);
    const Timeout two = 2s;
    const Duration plain = two;
    CHECK(plain == 2s);
    CHECK(two + 1s == 3s);
    CHECK(two < 3s);
}

TEST_CASE("timeout: a duration that is too long is without end") {
    CHECK(Timeout{std::chrono::hours::max()} == Duration::max());
    CHECK(Timeout{std::chrono::seconds::max()} == Duration::max());
    CHECK(Timeout{std::chrono::milliseconds::max()} == Duration::max());
    CHECK(Timeout{std::chrono::years{1000}} == Duration::max());
    CHECK(Timeout{Duration::max()} == Duration::max());
    CHECK(Timeout{std::chrono::hours::min()} == Duration::min());
    CHECK(Timeout{std::chrono::years{-1000}} == Duration::min());
}

TEST_CASE("timeout: options and deadlines take the longest durations") {
    CHECK(Deadline::after(std::chrono::hours::max(), time_start).is_never());
    CHECK(Deadline::after(std::chrono::seconds::max(), time_start).is_never());
    CHECK(Deadline::in(std::chrono::hours::max()).is_never());
    CHECK(Deadline::after(std::chrono::hours::min(), time_start).passed(time_start));
    CHECK(CallOptions{.timeout = std::chrono::hours::max()}.timeout == Duration::max());
    CHECK(StopOptions{.timeout = std::chrono::hours::max()}.timeout == Duration::max());
    CHECK(SessionProcessorOptions{.session_idle_timeout = std::chrono::hours::max()}
              .session_idle_timeout == Duration::max());
    const std::optional<Duration> given = 3s;
    CHECK(CallOptions{.timeout = given}.timeout == 3s);
}
