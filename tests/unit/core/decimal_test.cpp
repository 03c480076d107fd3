// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sessionq/decimal.hpp>

#include "core/decimal_parts.hpp"
#include "core/random.hpp"

using namespace sessionq;
using Width = Decimal::Width;

namespace {

std::string hex(const Decimal& decimal) {
    std::string made;
    for (const std::byte each : decimal.bytes()) {
        const auto bits = std::to_integer<unsigned>(each);
        made += "0123456789abcdef"[bits >> 4U];
        made += "0123456789abcdef"[bits & 0xfU];
    }
    return made;
}

std::optional<Decimal> of_hex(std::string_view text) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        bytes.push_back(
            static_cast<std::byte>(std::stoi(std::string{text.substr(i, 2)}, nullptr, 16)));
    }
    return Decimal::of_bytes(bytes);
}

Decimal decimal(std::string_view text, Width width = Width::bits128) {
    const auto parsed = Decimal::parse(text, width);
    REQUIRE(parsed);
    return *parsed;
}

std::string calculated(std::string_view left, char operation, std::string_view right) {
    const auto result = core::calculate(operation, core::DecimalParts::of(decimal(left)),
                                        core::DecimalParts::of(decimal(right)));
    const auto made = result ? result->to_decimal() : std::nullopt;
    return made ? made->to_string() : "none";
}

} // namespace

TEST_CASE("Decimal: the standard's encoding in each width") {
    CHECK(hex(decimal("5.50", Width::bits32)) == "31800226");
    CHECK(hex(decimal("5.50", Width::bits64)) == "3180000000000226");
    CHECK(hex(decimal("5.50")) == "303c0000000000000000000000000226");
    CHECK(hex(decimal("-5.50")) == "b03c0000000000000000000000000226");
    CHECK(hex(Decimal{}) == "30400000000000000000000000000000");
    // A coefficient that begins with 100 in binary has the other layout.
    CHECK(hex(decimal("9999999", Width::bits32)) == "6cb8967f");
    CHECK(decimal("9999999", Width::bits32).to_string() == "9999999");
    CHECK(decimal("9999999999999999", Width::bits64).to_string() == "9999999999999999");
    CHECK(of_hex("78000000")->to_string() == "Infinity");
    CHECK(of_hex("f800000000000000")->to_string() == "-Infinity");
    CHECK(of_hex("7c000000000000000000000000000000")->to_string() == "NaN");
    CHECK_FALSE(of_hex("780000"));
}

TEST_CASE("Decimal: numbers of Azure's client for .NET, whose exponent has a form of its own") {
    // As that client encodes 5.50m, 0m, -1m, 0.1m and its greatest and smallest numbers.
    CHECK(of_hex("0c3c0000000000000000000000000226")->to_string() == "5.50");
    CHECK(of_hex("0c400000000000000000000000000000")->to_string() == "0");
    CHECK(of_hex("8c400000000000000000000000000001")->to_string() == "-1");
    CHECK(of_hex("0c3e0000000000000000000000000001")->to_string() == "0.1");
    CHECK(of_hex("0c40000000000000ffffffffffffffff")->to_string() == "18446744073709551615");
    CHECK(of_hex("0c40"
                 "0000"
                 "ffffffffffffffffffffffff")
              ->to_string() == "79228162514264337593543950335");
    CHECK(of_hex("0c080000000000000000000000000001")->to_string() == "1E-28");
    CHECK(*of_hex("0c3c0000000000000000000000000226") == decimal("5.5"));
    // Its bytes stay.
    CHECK(hex(*of_hex("0c3c0000000000000000000000000226")) == "0c3c0000000000000000000000000226");
}

TEST_CASE("Decimal: parse reads what to_string writes, with all digits") {
    for (const char* text :
         {"0", "0.00", "-0.0", "7.50", "10", "1E+3", "-1.25E+10", "0.000001", "1E-7", "Infinity",
          "-Infinity", "NaN", "1234567890123456789012345678901234", "9E-6176", "1E+6111"}) {
        CAPTURE(text);
        CHECK(decimal(text).to_string() == text);
    }
    CHECK(decimal("+1.").to_string() == "1");
    CHECK(decimal(".5").to_string() == "0.5");
    CHECK(decimal("1e3").to_string() == "1E+3");
    CHECK(decimal("10000000000", Width::bits32).to_string() == "1.000000E+10");
    for (const char* wrong : {"", ".", "-", "1e", "1e+", "e1", "1x", " 1", "1,5", "0x1", "--1",
                              "12345678901234567890123456789012345", "1E+7000", "1E-7000",
                              "1E+99999999999", "nan", "1.2.3"}) {
        CAPTURE(wrong);
        CHECK_FALSE(Decimal::parse(wrong));
    }
    CHECK_FALSE(Decimal::parse("12345678", Width::bits32));
}

TEST_CASE("Decimal: any bytes have a text, which is the same number") {
    core::Random random{1};
    for (int i = 0; i < 3000; ++i) {
        std::array<std::byte, 16> bytes{};
        for (std::byte& each : bytes) {
            each = static_cast<std::byte>(random.next());
        }
        const std::size_t size = std::size_t{4} << random.below(3);
        const auto made = Decimal::of_bytes({bytes.data(), size});
        REQUIRE(made);
        const auto again = Decimal::parse(made->to_string(), made->width());
        REQUIRE(again);
        CHECK(again->to_string() == made->to_string());
        CHECK((*again == *made) == (made->to_string() != "NaN"));
    }
}

TEST_CASE("Decimal: compares numbers, not forms") {
    CHECK(decimal("7.5") == decimal("7.50", Width::bits32));
    CHECK(decimal("-0") == decimal("0.000"));
    CHECK(decimal("99.95") > decimal("10.00"));
    CHECK(decimal("-2") < decimal("-1"));
    CHECK(decimal("-1") < decimal("1E-100"));
    CHECK(decimal("1E+6000") > decimal("9999999999999999999999999999999999"));
    CHECK(decimal("1E+33") == decimal("1000000000000000000000000000000000"));
    CHECK(decimal("Infinity") > decimal("1E+6111"));
    CHECK(decimal("-Infinity") < decimal("-1E+6111"));
    CHECK(decimal("Infinity") == decimal("Infinity", Width::bits32));
    CHECK_FALSE(decimal("NaN") == decimal("NaN"));
}

TEST_CASE("Decimal: to_double gives the nearest") {
    for (const auto& [text, number] :
         {std::pair{"0.1", 0.1}, std::pair{"-7.50", -7.5}, std::pair{"1E+22", 1e22},
          std::pair{"1E+300", 1e300}, std::pair{"1E-6000", 0.0},
          std::pair{"1E+6000", std::numeric_limits<double>::infinity()},
          std::pair{"0.1234567890123456789012345678901234",
                    0.1234567890123456789012345678901234}}) {
        CAPTURE(text);
        CHECK(decimal(text).to_double() == number);
    }
    CHECK(std::isnan(decimal("NaN").to_double()));
}

TEST_CASE("Decimal: calculates exactly, or up to 28 digits of a quotient") {
    CHECK(calculated("5.50", '+', "0.25") == "5.75");
    CHECK(calculated("5.50", '-', "7") == "-1.50");
    CHECK(calculated("-5.50", '-', "-7") == "1.50");
    CHECK(calculated("1.50", '*', "-2") == "-3.00");
    CHECK(calculated("7", '/', "2") == "3.5");
    CHECK(calculated("1", '/', "3") == "0.3333333333333333333333333333");
    CHECK(calculated("-7.5", '%', "2") == "-1.5");
    CHECK(calculated("1", '/', "0") == "none");
    CHECK(calculated("1", '%', "0.0") == "none");
    CHECK(calculated("1E+6000", '+', "1") == "none");
    CHECK(calculated("9999999999999999999999999999999999", '+', "0.1") == "none");
    CHECK(calculated("NaN", '+', "1") == "none");
}
