// SPDX-License-Identifier: MIT
#include "core/byte_order.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace sessionq::core;

TEST_CASE("byte order: numbers are read from any address in network order") {
    constexpr std::string_view bytes{"\x01\x02\x03\x04\x05\x06\x07\xf8\x09"};
    CHECK(number_at<1>(bytes.data()) == 0x01);
    CHECK(number_at<2>(bytes.data() + 1) == 0x0203);
    CHECK(number_at<4>(bytes.data() + 5) == 0x0607f809);
    CHECK(number_at<8>(bytes.data() + 1) == 0x020304050607f809);
}

TEST_CASE("byte order: writing a wider number writes its lowest bytes and nothing beside them") {
    std::string bytes(8, '.');
    put_number<1>(bytes.data() + 1, 0x1234);
    put_number<2>(bytes.data() + 3, 0x123456);
    CHECK(bytes == ".\x34.\x34\x56...");
    put_number<4>(bytes.data(), 0x0102030405);
    put_number<4>(bytes.data() + 4, 0xff000000);
    CHECK(bytes == std::string{"\x02\x03\x04\x05\xff\0\0\0", 8});
    put_number<8>(bytes.data(), 0x0102030405060708);
    CHECK(bytes == "\x01\x02\x03\x04\x05\x06\x07\x08");
}
