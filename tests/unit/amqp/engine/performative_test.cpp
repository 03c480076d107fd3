// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>
#include <vector>

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
    struct Row {
        std::uint8_t code;
        std::uint8_t count;
        std::string before; ///< the fields before the one in question
        std::vector<std::string> fits;
        std::vector<std::string> fits_not;
    };
    const Row closed{.code = Performative::detach,
                     .count = 2,
                     .before = "\x43",
                     .fits = {"\x41", "\x42", "\x56\x00"s, "\x56\x01"},
                     .fits_not = {"\x56\x02", "\x52\x01"}};
    const Row handle{.code = Performative::detach,
                     .count = 1,
                     .before = {},
                     .fits = {"\x43", "\x50\xff", "\x60\xff\xff", "\x70\xff\xff\xff\xff",
                              "\x80\0\0\0\0\xff\xff\xff\xff"s},
                     .fits_not = {"\x80\0\0\0\1\0\0\0\0"s, "\x54\x01"}};
    const Row channel_max{.code = Performative::open,
                          .count = 4,
                          .before = "\xa1\x01"
                                    "c\x40\x40",
                          .fits = {"\x70\0\0\xff\xff"s},
                          .fits_not = {"\x70\0\1\0\0"s}};
    const Row sender_mode{.code = Performative::attach,
                          .count = 4,
                          .before = "\xa1\x01l\x43\x42",
                          .fits = {"\x50\x02", "\x52\x02"},
                          .fits_not = {"\x50\x03", "\x52\x03"}};
    const Row tag{.code = Performative::transfer,
                  .count = 3,
                  .before = "\x43\x43",
                  .fits = {"\xa0\x01t", "\xb0\0\0\0\x01t"s},
                  .fits_not = {"\xa1\x01t"}};
    const Row container{.code = Performative::open,
                        .count = 1,
                        .before = {},
                        .fits = {"\xa1\x01t", "\xa3\x01t", "\xb1\0\0\0\x01t"s, "\xb3\0\0\0\x01t"s},
                        .fits_not = {"\xa0\x01t"}};
    const Row info{.code = Performative::error,
                   .count = 3,
                   .before = "\xa3\x01"
                             "e\x40",
                   .fits = {"\xc1\x01\x00"s, "\xd1\0\0\0\x04\0\0\0\0"s},
                   .fits_not = {"\xc0\x01\x00"s, "\x45"}};
    for (const Row& row : {closed, handle, channel_max, sender_mode, tag, container, info}) {
        CAPTURE(static_cast<int>(row.code));
        CAPTURE(static_cast<int>(row.count));
        for (const std::string& value : row.fits) {
            CHECK(fault_of(row.code, row.count, row.before + value).empty());
        }
        for (const std::string& value : row.fits_not) {
            CHECK_FALSE(fault_of(row.code, row.count, row.before + value).empty());
        }
    }
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
