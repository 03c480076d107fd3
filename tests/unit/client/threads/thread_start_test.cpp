// SPDX-License-Identifier: MIT
#include "client/threads/thread_start.hpp"

#include <doctest/doctest.h>

using namespace sessionq;

TEST_CASE("start_threads: gives what was made; a system without threads is resource_exhausted, in "
          "our words and its own") {
    CHECK(detail::client::start_threads("none", [] { return 7; }) == 7);
    try {
        detail::client::start_threads("no worker", []() -> int {
            throw std::system_error{
                std::make_error_code(std::errc::resource_unavailable_try_again)};
        });
        FAIL("nothing was thrown");
    } catch (const Error& error) {
        CHECK(error.failure().code == Errc::resource_exhausted);
        CHECK(error.failure().detail.starts_with("no worker: "));
    }
    CHECK_THROWS_AS(
        detail::client::start_threads("none",
                                      []() -> int {
                                          throw Error{Errc::invalid_option, "worker_threads is 0"};
                                      }),
        Error);
}
