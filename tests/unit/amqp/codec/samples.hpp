// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "amqp/codec/encoded_content.hpp"
#include "amqp/codec/encoder.hpp"

namespace sessionq::amqp {

inline std::string from_hex(std::string_view hex) {
    const auto digit = [](char c) {
        return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    };
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

/// A list with values of each type and each form.
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

inline const ClockReading noon{.now = TimePoint{std::chrono::seconds{1000}},
                               .wall = WallTime{std::chrono::milliseconds{1'700'000'000'000}}};

inline std::string section_of(std::uint64_t code, const Value& value) {
    return encode(Value::described(code, value));
}

inline std::shared_ptr<const EncodedContent> parse(std::string bytes) {
    auto made = EncodedContent::make(std::move(bytes), noon);
    REQUIRE(made.ok());
    return made.value();
}

/// A message with every field set.
inline Message rich_message() {
    return {.body = "body",
            .session_id = "s-1",
            .message_id = "m-1",
            .subject = "subject",
            .correlation_id = "c-1",
            .reply_to = "answers",
            .reply_to_session_id = "r-1",
            .to = "there",
            .content_type = "text/plain",
            .properties = {{"binary", std::vector<std::byte>{std::byte{1}, std::byte{0}}},
                           {"flag", true},
                           {"none", {}},
                           {"number", std::int64_t{-5}},
                           {"ratio", 0.5},
                           {"text", std::string{"t"}},
                           {"unsigned", std::uint64_t{1} << 63U},
                           {"when", noon.wall}},
            .time_to_live = std::chrono::seconds{5},
            .scheduled_enqueue_time = noon.wall + std::chrono::minutes{1},
            .deadline = Deadline::at(noon.now + std::chrono::seconds{30})};
}

/// A message written by Qpid Proton-C 0.37 (pn_message_encode).
inline std::string by_proton() {
    return from_hex("005370c00c054150097000007530405202005371d10000002700000002a310782d6f70742d6c6f"
                    "636b2d746f6b656e9800112233445566778899aabbccddeeff005372d1"
                    "0000006f00000008a315782d6f70742d73657175656e63652d6e756d626572552aa313782d6f70"
                    "742d656e7175657565642d74696d65830000018bcfe569f4a312782d6f"
                    "70742d6c6f636b65642d756e74696c830000018bcfe65260a313782d6f70742d6d657373616765"
                    "2d73746174655501005373c05f0d9800112233445566778899aabbccdd"
                    "eeffa00475736572a1066f7264657273a1077375626a656374a107616e7377657273534da30a74"
                    "6578742f706c61696e40830000018bcfe5dd30830000018bcfe56800a1"
                    "03732d315204a103722d31005374d10000004600000006a110446561644c657474657252656173"
                    "6f6ea103776879a11a446561644c65747465724572726f724465736372"
                    "697074696f6ea10762656361757365a1016e61fff9005375a004626f6479");
}

/// A message written by rhea 3.0.5 (message.encode): every section except delivery annotations and
/// footer, properties of every type, two data sections.
inline std::string by_rhea() {
    return from_hex("005370d00000000f000000054150077000015f90415203005372d10000005100000006a31c782d"
                    "6f70742d7363686564756c65642d656e71756575652d74696d65830000"
                    "018bcfe65260a313782d6f70742d706172746974696f6e2d6b6579a103732d31a305782d6f776e"
                    "71fffeee90005373d00000005f0000000da1036d2d31a00475736572a1"
                    "066f7264657273a1077375626a656374a107616e7377657273a103632d31a30a746578742f706c"
                    "61696ea3057574662d38830000018bcfe6c80b830000018bcfe5687ba1"
                    "03732d315205a103722d31005374d1000000be00000022a10474657874a10174a104666c616741"
                    "a1036f666642a1046279746551fba105756279746550c8a10573686f72"
                    "7461fed4a1067573686f727460ea60a103696e7471000186a0a10475696e7470ee6b2800a1046c"
                    "6f6e6781fffffffed5fa0e00a105756c6f6e6780000000012a05f200a1"
                    "05666c6f6174723fc00000a106646f75626c6582c002000000000000a1047768656e830000018b"
                    "cfe5687ba10362696ea0030100ffa10373796da30673796d626f6ca104"
                    "6e6f6e6540005375a002626f005375a0026479");
}

} // namespace sessionq::amqp
