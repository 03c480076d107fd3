// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include "amqp/codec/encoder.hpp"
#include "amqp/engine/performative.hpp"

using namespace sessionq::amqp;
using namespace std::string_literals;

namespace {

/// What is wrong with a performative whose encoded fields are `items`. Empty: nothing is.
std::string fault_of(std::uint8_t code, std::uint8_t count, const std::string& items) {
    std::string bytes = "\0\x53"s;
    bytes += static_cast<char>(code);
    bytes += '\xc0';
    bytes += static_cast<char>(1 + items.size());
    bytes += static_cast<char>(count);
    bytes += items;
    std::string fault;
    bytes += "payload";
    const auto read = Fields::read(bytes, fault);
    CHECK(read.has_value() == fault.empty());
    CHECK((!read || read->payload() == "payload"));
    return fault;
}

} // namespace

TEST_CASE("Fields: a fault names the type, the field and what is wrong") {
    const std::string handle = "\x52\x07"s;
    CHECK(fault_of(Performative::detach, 1, handle).empty());
    CHECK(fault_of(Performative::detach, 3, handle + "\x41\x45").empty());
    CHECK(fault_of(Performative::detach, 0, {}) == "detach: handle is missing");
    CHECK(fault_of(Performative::detach, 1, "\x40") == "detach: handle is missing");
    CHECK(fault_of(Performative::detach, 1, "\x41") == "detach: handle has a wrong value");
    CHECK(fault_of(Performative::detach, 1, "\x70\x01") == "detach: handle is not a value");
    CHECK(fault_of(Performative::detach, 2, handle) == "detach: closed is not a value");
    CHECK(fault_of(Performative::detach, 4, handle + "\x40\x40\x40") ==
          "detach: there are too many fields");
    CHECK(fault_of(Performative::detach, 1, handle + "\x40") ==
          "detach: there are bytes behind the last field");
    // The first mandatory field of those that are absent, though one before them may be absent.
    CHECK(fault_of(Performative::begin, 1, "\x40") == "begin: next-outgoing-id is missing");
    CHECK(fault_of(Performative::begin, 3, "\x40\x43\x43") == "begin: outgoing-window is missing");
}

TEST_CASE("Fields: each type takes each of its forms and no other") {
    const auto closed = [](const std::string& value) {
        return fault_of(Performative::detach, 2, "\x43" + value).empty();
    };
    CHECK(closed("\x41"));
    CHECK(closed("\x42"));
    CHECK(closed("\x56\x00"s));
    CHECK(closed("\x56\x01"));
    CHECK_FALSE(closed("\x56\x02"));
    CHECK_FALSE(closed("\x52\x01"));
    const auto handle = [](const std::string& value) {
        return fault_of(Performative::detach, 1, value).empty();
    };
    CHECK(handle("\x43"));
    CHECK(handle("\x50\xff"));
    CHECK(handle("\x60\xff\xff"));
    CHECK(handle("\x70\xff\xff\xff\xff"));
    CHECK(handle("\x80\0\0\0\0\xff\xff\xff\xff"s));
    CHECK_FALSE(handle("\x80\0\0\0\1\0\0\0\0"s)); // beyond an uint
    CHECK_FALSE(handle("\x54\x01"));
    const auto channel_max = [](const std::string& value) {
        return fault_of(Performative::open, 4,
                        "\xa1\x01"
                        "c\x40\x40" +
                            value)
            .empty();
    };
    CHECK(channel_max("\x70\0\0\xff\xff"s));
    CHECK_FALSE(channel_max("\x70\0\1\0\0"s)); // beyond an ushort
    const auto mode = [](const std::string& value) {
        return fault_of(Performative::attach, 4, "\xa1\x01l\x43\x42" + value).empty();
    };
    CHECK(mode("\x50\x02"));
    CHECK(mode("\x52\x02"));
    CHECK_FALSE(mode("\x50\x03"));
    CHECK_FALSE(mode("\x52\x03"));
    const auto tag = [](const std::string& value) {
        return fault_of(Performative::transfer, 3, "\x43\x43" + value).empty();
    };
    CHECK(tag("\xa0\x01t"));
    CHECK(tag("\xb0\0\0\0\x01t"s));
    CHECK_FALSE(tag("\xa1\x01t"));
    const auto container = [](const std::string& value) {
        return fault_of(Performative::open, 1, value).empty();
    };
    for (const char* text : {"\xa1\x01t", "\xa3\x01t"}) {
        CHECK(container(text));
    }
    CHECK(container("\xb1\0\0\0\x01t"s));
    CHECK(container("\xb3\0\0\0\x01t"s));
    CHECK_FALSE(container("\xa0\x01t"));
    const auto info = [](const std::string& value) {
        return fault_of(Performative::error, 3,
                        "\xa3\x01"
                        "e\x40" +
                            value)
            .empty();
    };
    CHECK(info("\xc1\x01\x00"s));
    CHECK(info("\xd1\0\0\0\x04\0\0\0\0"s));
    CHECK_FALSE(info("\xc0\x01\x00"s));
    CHECK_FALSE(info("\x45"));
}

TEST_CASE("Fields: what is absent has the table's value") {
    std::string fault;
    const auto open = Fields::read("\0\x53\x10\xc0\x05\x01\xa1\x02id"s, fault);
    REQUIRE(open);
    CHECK(open->number(open_field::max_frame_size) == 0xffffffff);
    CHECK(open->number(open_field::channel_max) == 0xffff);
    CHECK(open->number(open_field::idle_time_out) == 0);
    CHECK_FALSE(open->has(open_field::hostname));
    CHECK(open->text(open_field::hostname).empty());
    CHECK_FALSE(Fields::read("\0\x53\x99\x45"s, fault));
    CHECK(fault == "the peer sent a performative that does not exist");
    CHECK_FALSE(Fields::read("\x40", fault));
    CHECK(fault == "the peer sent a frame without a performative");
}
