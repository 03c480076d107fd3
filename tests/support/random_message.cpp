// SPDX-License-Identifier: MIT
#include "support/random_message.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_sections.hpp"
#include "core/byte_order.hpp"

namespace sessionq::tests {
namespace {

using amqp::Array;
using amqp::Decimal;
using amqp::Described;
using amqp::List;
using amqp::Map;
using amqp::Symbol;
using amqp::Timestamp;
using amqp::Value;
using core::Random;

constexpr std::int64_t first_millisecond = -62'135'596'800'000; // of year 1
constexpr std::int64_t last_millisecond = 253'402'300'799'999;  // of year 9999

bool one_in(Random& random, std::uint64_t count) { return random.below(count) == 0; }

template <typename Items>
const auto& any_of(Random& random, const Items& items) {
    return *std::next(std::begin(items), static_cast<std::ptrdiff_t>(random.below(
                                             static_cast<std::uint64_t>(std::size(items)))));
}

std::string bytes(Random& random, std::size_t size) {
    std::string made(size, '\0');
    std::ranges::generate(made, [&] { return static_cast<char>(random.next()); });
    return made;
}

/// A length on either side of the bound between the short and the long form.
std::size_t length(Random& random) {
    constexpr std::size_t lengths[] = {0, 1, 2, 5, 17, 254, 255, 256, 700};
    return any_of(random, lengths);
}

std::string text(Random& random) {
    static constexpr std::string_view pieces[] = {"a",
                                                  "Z",
                                                  "0",
                                                  " ",
                                                  "\"",
                                                  "\\",
                                                  "\n",
                                                  "\x01",
                                                  "\xc3\xa4",
                                                  "\xe2\x82\xac",
                                                  "\xf0\x9f\x98\x80"};
    std::string made;
    for (std::size_t left = length(random); left > 0; --left) {
        made += any_of(random, pieces);
    }
    return made;
}

std::string symbol(Random& random) {
    std::string made;
    for (std::size_t left = length(random); left > 0; --left) {
        made += static_cast<char>('!' + random.below('~' - '!' + 1));
    }
    return made;
}

Timestamp timestamp(Random& random, const RandomMessageOptions& options) {
    switch (random.below(options.any_timestamp ? 5 : 4)) {
    case 0: return {last_millisecond};
    case 1: return {first_millisecond};
    case 2: return {static_cast<std::int64_t>(random.below(4'000'000'000'000))};
    case 3:
        return {first_millisecond + static_cast<std::int64_t>(random.below(
                                        std::uint64_t{last_millisecond} -
                                        static_cast<std::uint64_t>(first_millisecond)))};
    default: return {std::bit_cast<std::int64_t>(random.next())};
    }
}

char32_t character(Random& random) {
    static constexpr char32_t all[] = {U'\0',     U'x',          U'\u00e4',
                                       U'\u20ac', U'\U0001f600', U'\U0010ffff'};
    return any_of(random, all);
}

/// The high bytes of a decimal: zero, an ordinary number, infinity, not a number, or anything.
Decimal decimal(Random& random, std::uint8_t code) {
    const std::size_t size = code == 0x74 ? 4 : code == 0x84 ? 8 : 16;
    std::string raw = bytes(random, size);
    switch (random.below(5)) {
    case 0: raw[0] = '\x78'; break;
    case 1: raw[0] = '\x7c'; break;
    case 2: break;
    default:
        std::fill(raw.begin(), raw.end(), '\0');
        raw[0] = code == 0x74 ? '\x32' : code == 0x84 ? '\x31' : '\x30';
        raw[1] = code == 0x74 ? '\x80' : code == 0x84 ? '\xc0' : '\x40';
        raw[size - 1] = static_cast<char>(random.below(256));
        break;
    }
    return {code, raw};
}

Value dotnet_value(Random& random) {
    static constexpr std::int64_t year_9999_ticks = 3'155'378'975'999'999'999;
    switch (random.below(3)) {
    case 0:
        return Value::described(Value::symbol("com.microsoft:timespan"),
                                std::bit_cast<std::int64_t>(random.next()));
    case 1:
        return Value::described(Value::symbol("com.microsoft:uri"),
                                "https://a.example/" + std::to_string(random.below(1000)));
    default:
        return Value::described(
            Value::symbol("com.microsoft:datetime-offset"),
            static_cast<std::int64_t>(random.below(std::uint64_t{year_9999_ticks})));
    }
}

template <typename Number>
Number number(Random& random) {
    using Limits = std::numeric_limits<Number>;
    switch (random.below(5)) {
    case 0: return Number{0};
    case 1: return Limits::min();
    case 2: return Limits::max();
    case 3: return static_cast<Number>(random.below(100));
    default: return static_cast<Number>(random.next());
    }
}

template <typename Float, typename Bits>
Float floating(Random& random) {
    using Limits = std::numeric_limits<Float>;
    switch (random.below(6)) {
    case 0: return Float{0} * Float{-1};
    case 1: return Limits::infinity();
    case 2: return Limits::quiet_NaN();
    case 3: return Limits::denorm_min();
    case 4: return static_cast<Float>(random.fraction());
    default: return std::bit_cast<Float>(static_cast<Bits>(random.next()));
    }
}

Value simple_value(Random& random, const RandomMessageOptions& options) {
    switch (random.below(options.binary_properties ? 22 : 21)) {
    case 0: return {};
    case 1: return Value{one_in(random, 2)};
    case 2: return Value{number<std::uint8_t>(random)};
    case 3: return Value{number<std::uint16_t>(random)};
    case 4: return Value{number<std::uint32_t>(random)};
    case 5: return Value{number<std::uint64_t>(random)};
    case 6: return Value{number<std::int8_t>(random)};
    case 7: return Value{number<std::int16_t>(random)};
    case 8: return Value{number<std::int32_t>(random)};
    case 9: return Value{number<std::int64_t>(random)};
    case 10: return Value{floating<float, std::uint32_t>(random)};
    case 11: return Value{floating<double, std::uint64_t>(random)};
    case 12: return Value{character(random)};
    case 13: return Value{timestamp(random, options)};
    case 14: return Value{core::Uuid::make(random)};
    case 15: return Value{decimal(random, 0x74)};
    case 16: return Value{decimal(random, 0x84)};
    case 17: return Value{decimal(random, 0x94)};
    case 18: return Value{text(random)};
    case 19: return Value{Symbol{symbol(random)}};
    case 20: return dotnet_value(random);
    default: return Value::binary(bytes(random, length(random)));
    }
}

Value compound_value(Random& random, int depth, const RandomMessageOptions& options) {
    const auto items = [&] {
        List made;
        for (std::uint64_t left = random.below(4); left > 0; --left) {
            made.push_back(random_value(random, depth - 1, options));
        }
        return made;
    };
    switch (random.below(4)) {
    case 0: return Value{items()};
    case 1: {
        Map map;
        for (Value& item : items()) {
            map.emplace_back("k" + std::to_string(map.size()), std::move(item));
        }
        return Value{std::move(map)};
    }
    case 2: {
        static const Array arrays[] = {
            {0x71, {std::int32_t{1}, std::int32_t{-70000}}, {}},
            {0x54, {std::int32_t{1}, std::int32_t{-1}}, {}},
            {0xa1, {"x", "yz"}, {}},
            {0xb3, {Value::symbol("a")}, {}},
            {0x98, {core::Uuid::of(1, 2)}, {}},
            {0x56, {true, false}, {}},
            {0x40, {Value{}}, {}},
            {0xd0, {List{}, List{true}}, {}},
            {0x94, {Decimal{0x94, std::string(16, '\x30')}}, {}},
            {0xa1, {"x"}, std::make_shared<const Value>(Value::symbol("d"))},
            {0xa1, {}, {}},
        };
        return Value{any_of(random, arrays)};
    }
    default:
        return Value::described(one_in(random, 2) ? Value{std::uint64_t{0x9999'0000'0001}}
                                                  : Value::symbol("example:thing"),
                                random_value(random, depth - 1, options));
    }
}

/// Appends values, each in one of the forms of its type.
class AnyFormEncoder {
public:
    AnyFormEncoder(std::string& to, Random& random) : to_{to}, random_{random} {}

    void write(const Value& value) {
        if (const auto* boolean = value.as<bool>(); boolean != nullptr && longer()) {
            put("\x56", {*boolean ? "\x01" : "\0", 1});
        } else if (const auto* uint = value.as<std::uint32_t>(); uint != nullptr && longer()) {
            put("\x70", fixed<4>(*uint));
        } else if (const auto* ulong = value.as<std::uint64_t>(); ulong != nullptr && longer()) {
            put("\x80", fixed<8>(*ulong));
        } else if (const auto* integer = value.as<std::int32_t>(); integer != nullptr && longer()) {
            put("\x71", fixed<4>(static_cast<std::uint32_t>(*integer)));
        } else if (const auto* wide = value.as<std::int64_t>(); wide != nullptr && longer()) {
            put("\x81", fixed<8>(static_cast<std::uint64_t>(*wide)));
        } else if (const auto* binary = value.as<amqp::Binary>(); binary != nullptr && longer()) {
            put_sized("\xb0", binary->bytes);
        } else if (const auto* string = value.as<std::string>(); string != nullptr && longer()) {
            put_sized("\xb1", *string);
        } else if (const auto* name = value.as<Symbol>(); name != nullptr && longer()) {
            put_sized("\xb3", name->text);
        } else if (const auto* list = value.as<List>()) {
            write_list(*list);
        } else if (const auto* map = value.as<Map>()) {
            write_map(*map);
        } else if (const Described* described = value.described()) {
            to_.push_back('\0');
            write(described->descriptor);
            write(described->value);
        } else {
            to_.append(amqp::encode(value));
        }
    }

private:
    bool longer() { return one_in(random_, 3); }

    template <std::size_t Width>
    static std::string fixed(std::uint64_t number) {
        std::string raw(Width, '\0');
        core::put_number<Width>(raw.data(), number);
        return raw;
    }
    void put(std::string_view code, std::string_view raw) { to_.append(code).append(raw); }
    void put_sized(std::string_view code, std::string_view raw) {
        to_.append(code).append(fixed<4>(raw.size())).append(raw);
    }

    void write_list(const List& list) {
        std::string inside;
        AnyFormEncoder items{inside, random_};
        for (const Value& item : list) {
            items.write(item);
        }
        if (list.empty() && !longer()) {
            to_.push_back('\x45');
        } else {
            write_compound("\xc0", "\xd0", list.size(), inside);
        }
    }
    void write_map(const Map& map) {
        std::string inside;
        AnyFormEncoder items{inside, random_};
        for (const auto& [key, value] : map) {
            items.write(key);
            items.write(value);
        }
        write_compound("\xc1", "\xd1", 2 * map.size(), inside);
    }
    void write_compound(std::string_view small, std::string_view large, std::size_t count,
                        std::string_view inside) {
        if (inside.size() < 0xff && count <= 0xff && !longer()) {
            to_.append(small).append(fixed<1>(inside.size() + 1)).append(fixed<1>(count));
        } else {
            to_.append(large).append(fixed<4>(inside.size() + 4)).append(fixed<4>(count));
        }
        to_.append(inside);
    }

    std::string& to_;
    Random& random_;
};

std::string section(std::uint64_t code, Value value, Random& random) {
    // Not in any form: many peers accept no other descriptor.
    std::string made;
    amqp::Encoder{made}.write_descriptor(code);
    return made + encode_in_any_form(value, random);
}

Value header(Random& random) {
    constexpr std::uint32_t hour = 3'600'000;
    List fields{one_in(random, 2) ? Value{one_in(random, 2)} : Value{},
                one_in(random, 2) ? Value{number<std::uint8_t>(random)} : Value{},
                one_in(random, 3) ? Value{hour + static_cast<std::uint32_t>(random.below(hour))}
                                  : Value{}};
    if (one_in(random, 2)) {
        fields.emplace_back(one_in(random, 2));
        fields.emplace_back(std::uint32_t{0});
    }
    return Value{std::move(fields)};
}

Value any_id(Random& random) {
    switch (random.below(4)) {
    case 0: return Value{number<std::uint64_t>(random)};
    case 1: return Value{core::Uuid::make(random)};
    case 2: return Value::binary(bytes(random, 8));
    default: return Value{"id-" + std::to_string(random.next())};
    }
}

Value properties(Random& random, const RandomMessageOptions& options) {
    const auto maybe = [&random](auto make) { return one_in(random, 2) ? Value{make()} : Value{}; };
    List fields{
        any_id(random),
        maybe([&] { return amqp::Binary{bytes(random, 5)}; }),
        maybe([] { return std::string{"to"}; }),
        maybe([&] { return text(random); }),
        maybe([] { return std::string{"reply-to"}; }),
        maybe([&] { return any_id(random); }),
        maybe([] { return Symbol{"text/plain"}; }),
        maybe([] { return Symbol{"gzip"}; }),
        maybe([] { return Timestamp{last_millisecond}; }),
        maybe([&] { return Timestamp{static_cast<std::int64_t>(random.below(1U << 31U))}; }),
        options.session_id ? Value{*options.session_id} : Value{},
        maybe([&] { return number<std::uint32_t>(random); }),
        maybe([] { return std::string{"reply-to-session"}; })};
    while (one_in(random, 2) && fields.back().is_null()) {
        fields.pop_back();
    }
    return Value{std::move(fields)};
}

Value annotations(Random& random, const RandomMessageOptions& options) {
    Map map;
    for (std::uint64_t left = random.below(5); left > 0; --left) {
        map.emplace_back(Value::symbol("x-own-" + std::to_string(map.size())),
                         random_value(random, 3, options));
    }
    return Value{std::move(map)};
}

Value application_properties(Random& random, const RandomMessageOptions& options) {
    Map map;
    for (std::uint64_t left = random.below(8); left > 0; --left) {
        map.emplace_back((one_in(random, 2) ? "key " : "\xc3\xa4.") + std::to_string(map.size()),
                         options.nested_properties && one_in(random, 6)
                             ? random_value(random, 3, options)
                             : simple_value(random, options));
    }
    return Value{std::move(map)};
}

std::string body(Random& random, const RandomMessageOptions& options) {
    const auto data = [&] {
        return section(amqp::section::data, Value::binary(bytes(random, length(random))), random);
    };
    std::string made;
    switch (random.below(6)) {
    case 0:
    case 1: return data();
    case 2:
        for (std::uint64_t left = 2 + random.below(3); left > 0; --left) {
            made += data();
        }
        return made;
    case 3:
        for (std::uint64_t left = 1 + random.below(3); left > 0; --left) {
            List items;
            for (std::uint64_t more = random.below(4); more > 0; --more) {
                items.push_back(random_value(random, 3, options));
            }
            made += section(amqp::section::sequence, Value{std::move(items)}, random);
        }
        return made;
    default: return section(amqp::section::value, random_value(random, 3, options), random);
    }
}

} // namespace

amqp::Value random_value(Random& random, int depth, const RandomMessageOptions& options) {
    return depth > 0 && one_in(random, 3) ? compound_value(random, depth, options)
                                          : simple_value(random, options);
}

std::string encode_in_any_form(const amqp::Value& value, Random& random) {
    std::string made;
    AnyFormEncoder{made, random}.write(value);
    return made;
}

std::string random_message(Random& random, const RandomMessageOptions& options) {
    std::string made;
    if (one_in(random, 2)) {
        made += section(amqp::section::header, header(random), random);
    }
    if (options.hop_sections && one_in(random, 4)) {
        made += section(amqp::section::delivery_annotations, annotations(random, options), random);
    }
    if (one_in(random, 2)) {
        made += section(amqp::section::message_annotations, annotations(random, options), random);
    }
    made += section(amqp::section::properties, properties(random, options), random);
    if (!one_in(random, 4)) {
        made += section(amqp::section::application_properties,
                        application_properties(random, options), random);
    }
    made += body(random, options);
    if (options.hop_sections && one_in(random, 4)) {
        made += section(amqp::section::footer, annotations(random, options), random);
    }
    return made;
}

std::vector<amqp::Value> values_of_every_type() {
    using namespace std::string_literals;
    // 5.50 as that client encodes it, and as the standard has it.
    const std::string dotnet_decimal = "\x0c\x3c"s + std::string(12, '\0') + "\x02\x26"s;
    const std::string decimal = "\x30\x3c"s + std::string(12, '\0') + "\x02\x26"s;
    return {"text",
            true,
            std::uint8_t{5},
            std::int8_t{-5},
            std::int16_t{-5},
            std::uint16_t{5},
            std::int32_t{-5},
            std::uint32_t{5},
            std::int64_t{-5},
            std::numeric_limits<std::uint64_t>::max(),
            1.5F,
            0.1,
            Decimal{0x94, dotnet_decimal},
            Decimal{0x94, decimal},
            Decimal{0x84, "\x31\x80"s + std::string(4, '\0') + "\x02\x26"s},
            Decimal{0x74, "\x31\x80\x02\x26"s},
            U'x',
            core::Uuid::of(0x0011223344556677, 0x8899aabbccddeeff),
            Timestamp{1'767'322'986'000},
            Timestamp{last_millisecond},
            Value::described(Value::symbol("com.microsoft:datetime-offset"),
                             std::int64_t{639'029'197'850'000'000}),
            Value::described(Value::symbol("com.microsoft:timespan"), std::int64_t{55'000'000}),
            Value::described(Value::symbol("com.microsoft:uri"), "https://a.example/b"),
            Value::symbol("symbol"),
            Value::binary("\0\xff"s),
            Value{}};
}

std::string damaged(std::string bytes, core::Random& random) {
    constexpr std::string_view likely{
        "\x00\x40\x41\x45\x46\x50\x53\x56\x5f\x83\x94\x98\xa1\xa2\xa3\xb1\xc0\xc1\xd1\xe0\xf0\xff",
        22};
    for (auto left = 1 + random.below(3); left != 0 && !bytes.empty(); --left) {
        const auto at = static_cast<std::size_t>(random.below(bytes.size()));
        const char byte = random.below(2) == 0 ? likely[random.below(likely.size())]
                                               : static_cast<char>(random.below(256));
        switch (random.below(6)) {
        case 0: bytes.erase(at, 1); break;
        case 1: bytes.insert(at, 1, byte); break;
        case 2: bytes[at] = static_cast<char>(bytes[at] + 1); break;
        default: bytes[at] = byte; break;
        }
    }
    return bytes;
}

} // namespace sessionq::tests
