// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/lock_token.hpp"

using namespace sessionq;
using namespace sessionq::amqp;

TEST_CASE("lock_token: a tag is the token in .NET's byte order") {
    const core::Uuid token = *core::Uuid::parse("00112233-4455-6677-8899-aabbccddeeff");
    const TokenTag tag = tag_of(token);
    const unsigned char expected[]{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66,
                                   0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
    for (std::size_t i = 0; i < tag.size(); ++i) {
        CHECK(static_cast<unsigned char>(tag[i]) == expected[i]);
    }
    CHECK(token_of({tag.data(), tag.size()}) == token);
    CHECK_FALSE(token_of("short"));
}

TEST_CASE("lock_token: ticks count from the year 1 and are clamped to the clock's range") {
    const WallTime time{std::chrono::milliseconds{1'700'000'000'123}};
    CHECK(ticks_of(time) == 1'700'000'000'123LL * 10'000 + 621'355'968'000'000'000LL);
    CHECK(time_of(ticks_of(time)) == time);
    CHECK(time_of(0) < WallTime{});
    CHECK(time_of(3'155'378'975'999'999'999LL) > time); // the year 9999
}
