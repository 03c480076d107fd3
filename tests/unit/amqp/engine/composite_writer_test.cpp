// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/engine/composite_writer.hpp"
#include "amqp/engine/performative.hpp"

using namespace sessionq::amqp;

namespace {

List read(std::string_view bytes) {
    Decoder decoder{bytes};
    const auto value = decoder.read();
    REQUIRE(value);
    CHECK(decoder.at_end());
    return *value->described()->value.as<List>();
}

} // namespace

TEST_CASE("CompositeWriter: fields that are left out are null, up to the last of the type") {
    std::string bytes = "before";
    CompositeWriter writer{bytes, Performative::flow};
    writer.number(flow_field::next_incoming_id, 0);
    writer.number(flow_field::outgoing_window, 255);
    writer.number(flow_field::handle, 256);
    writer.boolean(flow_field::drain, true);
    writer.finish();
    const List fields = read(std::string_view{bytes}.substr(6));
    REQUIRE(fields.size() == 11);
    CHECK(fields[0] == Value{std::uint32_t{0}});
    CHECK(fields[1] == Value{});
    CHECK(fields[3] == Value{std::uint32_t{255}});
    CHECK(fields[4] == Value{std::uint32_t{256}});
    CHECK(fields[8] == Value{true});
    CHECK(fields[10] == Value{});
}

TEST_CASE("CompositeWriter: a value may have any size") {
    for (std::size_t size = 0; size < 700; ++size) {
        CAPTURE(size);
        const std::string text(size, 'x');
        const std::string map = encode(Value::map({{Value::symbol("key"), text}}));
        std::string bytes;
        CompositeWriter writer{bytes, Performative::error};
        writer.symbol(error_field::condition, text);
        writer.string(error_field::description, text);
        writer.raw(error_field::info, map);
        writer.finish();
        const List fields = read(bytes);
        REQUIRE(fields.size() == 3);
        CHECK(fields[0] == Value::symbol(text));
        CHECK(fields[1] == Value{text});
        CHECK(encode(fields[2]) == map);
        std::string fault;
        const auto parsed = Fields::read(bytes, fault);
        REQUIRE(parsed);
        CHECK(parsed->text(error_field::condition) == text);
        CHECK(parsed->raw(error_field::info) == map);
    }
}

TEST_CASE("CompositeWriter: numbers of all sizes are read back") {
    for (unsigned shift = 0; shift < 64; ++shift) {
        const std::uint64_t number = std::uint64_t{1} << shift;
        std::string bytes;
        CompositeWriter writer{bytes, Performative::attach};
        writer.string(attach_field::name, "l");
        writer.number(attach_field::handle, static_cast<std::uint32_t>(number));
        writer.boolean(attach_field::role, false);
        writer.ubyte(attach_field::sender_mode, 1);
        writer.long_number(attach_field::max_message_size, number);
        writer.finish();
        std::string fault;
        const auto fields = Fields::read(bytes, fault);
        REQUIRE(fields);
        CHECK(fields->number(attach_field::handle) == static_cast<std::uint32_t>(number));
        CHECK(fields->number(attach_field::sender_mode) == 1);
        CHECK(fields->number(attach_field::receiver_mode) == 0);
        CHECK(fields->long_number(attach_field::max_message_size) == number);
    }
}
