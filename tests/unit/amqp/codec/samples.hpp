#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "amqp/codec/encoder.hpp"

namespace sessionq::amqp {

inline std::string from_hex(std::string_view hex) {
    const auto digit = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes.push_back(static_cast<char>(digit(hex[i]) << 4U | digit(hex[i + 1])));
    }
    return bytes;
}

inline std::string to_hex(std::string_view bytes) {
    std::string hex;
    for (const char byte : bytes) {
        hex += "0123456789abcdef"[static_cast<std::uint8_t>(byte) >> 4U];
        hex += "0123456789abcdef"[static_cast<std::uint8_t>(byte) & 0x0fU];
    }
    return hex;
}

inline core::Uuid some_uuid() { return *core::Uuid::parse("00112233-4455-6677-8899-aabbccddeeff"); }

/// One value of each type, and of each form a type can take.
inline Value some_of_everything() {
    using namespace std::string_literals;
    const core::Uuid uuid = some_uuid();
    List list{Value{},
              true,
              false,
              std::uint8_t{200},
              std::uint16_t{60000},
              std::uint32_t{0},
              std::uint32_t{255},
              std::uint32_t{256},
              std::uint64_t{0},
              std::uint64_t{255},
              std::numeric_limits<std::uint64_t>::max(),
              std::int8_t{-100},
              std::int16_t{-30000},
              std::int32_t{-128},
              std::int32_t{-129},
              std::int64_t{127},
              std::numeric_limits<std::int64_t>::min(),
              1.5F,
              -2.25,
              U'ü',
              Timestamp{1700000000123},
              uuid,
              Decimal{0x74, "abcd"},
              Decimal{0x84, "abcdefgh"},
              Decimal{0x94, "abcdefghijklmnop"},
              Value::binary("\0\x01"s),
              "text",
              std::string(300, 'x'),
              Value::symbol("sym"),
              List{},
              Value::map({{Value::symbol("k"), "v"}, {"n", Value{}}}),
              Array{0x81, {std::int64_t{1}, std::int64_t{-1}}, {}},
              Array{0xa3, {Value::symbol("a"), Value::symbol("bc")}, {}},
              Array{0x98, {uuid}, {}},
              Array{0x40, {Value{}, Value{}}, {}},
              Array{0x55, {std::int64_t{1}, std::int64_t{-1}}, {}},
              Array{0x43, {std::uint32_t{0}}, {}},
              Array{0x56, {true, false}, {}},
              Array{0x72, {1.5F}, {}},
              Array{0x73, {U'ü'}, {}},
              Array{0x83, {Timestamp{-1}}, {}},
              Array{0x74, {Decimal{0x74, "abcd"}}, {}},
              Array{0xa1, {}, {}},
              Array{0xb0, {Value::binary("b")}, {}},
              Array{0xc0, {List{}, List{true}}, {}},
              Array{0xd1, {Value::map({{"k", true}})}, {}},
              Array{0xf0, {Array{0x50, {std::uint8_t{1}}, {}}}, {}},
              Array{0xb1, {"x", "y"}, std::make_shared<const Value>(std::uint64_t{9})},
              Value::described(std::uint64_t{0x137000000C}, "id")};
    return Value{std::move(list)};
}

} // namespace sessionq::amqp
