// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "amqp/codec/message_codec.hpp"
#include "amqp/codec/message_sections.hpp"
#include "codec/samples.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace std::chrono_literals;
using namespace std::string_literals;

TEST_CASE("MessageSections: finds every section") {
    const std::string bytes = by_rhea();
    const auto found = MessageSections::find(bytes);
    REQUIRE(found);
    CHECK(found->delivery_annotations.empty());
    CHECK(found->footer.empty());
    CHECK(found->body_kind == BodyKind::several_data);
    CHECK(std::string{found->header}
              .append(found->message_annotations)
              .append(found->properties)
              .append(found->application_properties)
              .append(found->body) == bytes);
    const std::string rest = section_of(section::delivery_annotations, Map{}) +
                             section_of(section::value, "v") + section_of(section::footer, Map{});
    const auto others = MessageSections::find(rest);
    REQUIRE(others);
    CHECK(others->delivery_annotations == section_of(section::delivery_annotations, Map{}));
    CHECK(others->body_kind == BodyKind::value);
    CHECK(others->footer == section_of(section::footer, Map{}));
}

TEST_CASE("MessageSections: rejects sections that the standard does not allow") {
    const std::string data = section_of(section::data, Value::binary("d"));
    const std::string sequence = section_of(section::sequence, Value::list({"s"}));
    const std::string value = section_of(section::value, "v");
    CHECK(MessageSections::find(data + data));
    CHECK(MessageSections::find(sequence + sequence));
    CHECK_FALSE(MessageSections::find(value + value));
    CHECK_FALSE(MessageSections::find(data + sequence));
    CHECK_FALSE(MessageSections::find(sequence + data));
    CHECK_FALSE(MessageSections::find(section_of(section::properties, List{}) +
                                      section_of(section::header, List{})));
    CHECK_FALSE(MessageSections::find(section_of(0x79, List{})));
    CHECK_FALSE(MessageSections::find(section_of(0x6f, List{})));
    CHECK_FALSE(MessageSections::find("\x40"));
    CHECK_FALSE(MessageSections::find(section_of(section::data, Value::list({"no bytes"}))));
    CHECK_FALSE(MessageSections::find(data + section_of(section::data, true)));
}

TEST_CASE("MessageSections: those in another order are put into the standard's") {
    const std::string header = section_of(section::header, List{});
    const std::string one = section_of(section::data, Value::binary("1"));
    const std::string two = section_of(section::data, Value::binary("2"));
    const std::string footer = section_of(section::footer, Map{});
    CHECK(in_standard_order(footer + one + two + header) == header + one + two + footer);
    CHECK(in_standard_order(one + footer + two) == one + two + footer);
    CHECK(in_standard_order(header + one) == header + one);
    CHECK_FALSE(in_standard_order(header + "\x40"));
    CHECK_FALSE(in_standard_order(one + section_of(0x79, List{})));
}

TEST_CASE("MessageHeader: absent fields have the standard's defaults, large numbers are clamped") {
    const MessageHeader absent = *MessageHeader::read({});
    CHECK_FALSE(absent.durable);
    CHECK(absent.priority == 4);
    CHECK_FALSE(absent.time_to_live);
    CHECK(absent.delivery_count == 0);
    const MessageHeader wide = *MessageHeader::read(
        section_of(section::header, Value::list({true, std::uint64_t{300}, std::uint64_t{1} << 40U,
                                                 Value{}, std::uint64_t{1} << 40U})));
    CHECK(wide.durable);
    CHECK(wide.priority == 255);
    CHECK(wide.time_to_live == 0xffffffff);
    CHECK(wide.delivery_count == 0xffffffff);
    CHECK_FALSE(MessageHeader::read(section_of(
        section::header, Value::list({true, Value{}, Value{}, Value{}, Value{}, Value{}}))));
    CHECK_FALSE(MessageHeader::read(section_of(section::header, Value{"no list"})));
}

TEST_CASE("MessageHeader: reads back all fields that it wrote") {
    std::string bytes;
    MessageHeader{.durable = true,
                  .priority = 1,
                  .time_to_live = 0,
                  .first_acquirer = true,
                  .delivery_count = 7}
        .write(bytes);
    const MessageHeader back = *MessageHeader::read(bytes);
    CHECK(back.durable);
    CHECK(back.priority == 1);
    CHECK(back.time_to_live == 0U);
    CHECK(back.first_acquirer);
    CHECK(back.delivery_count == 7);
    bytes.clear();
    MessageHeader{}.write(bytes);
    CHECK(decode(bytes) ==
          Value::described(section::header, Value::list({false, std::uint8_t{4}, Value{}, false,
                                                         std::uint32_t{0}})));
}

TEST_CASE("MessageProperties: reads fields by type and returns nothing for absent ones") {
    const std::string bytes = by_rhea();
    const auto properties = MessageProperties::read(MessageSections::find(bytes)->properties);
    REQUIRE(properties);
    CHECK(properties->text(MessageProperties::user_id) == "user");
    CHECK(properties->text(MessageProperties::content_type) == "text/plain");
    CHECK(properties->text(MessageProperties::content_encoding) == "utf-8");
    CHECK(properties->time(MessageProperties::creation_time) == WallTime{1'700'000'000'123ms});
    CHECK(properties->time(MessageProperties::absolute_expiry_time) ==
          WallTime{1'700'000'090'123ms});
    CHECK(properties->value(MessageProperties::group_sequence) == Value{std::uint32_t{5}});
    CHECK_FALSE(properties->text(MessageProperties::group_sequence));
    CHECK_FALSE(properties->time(MessageProperties::subject));
    const std::string short_list =
        section_of(section::properties, Value::list({Value{}, Value{}, "to"}));
    const auto few = MessageProperties::read(short_list);
    REQUIRE(few);
    CHECK(few->id(MessageProperties::message_id).empty());
    CHECK(few->text(MessageProperties::to) == "to");
    CHECK_FALSE(few->text(MessageProperties::group_id));
    CHECK_FALSE(few->value(MessageProperties::group_id));
    CHECK_FALSE(MessageProperties::read(section_of(section::properties, List(14))));
}

TEST_CASE("MessageProperties: writes what it read, without trailing nulls") {
    const std::string bytes = by_proton();
    const auto properties = MessageProperties::read(MessageSections::find(bytes)->properties);
    REQUIRE(properties);
    std::string written;
    properties->write(written);
    CHECK(decode(written) == decode(MessageSections::find(bytes)->properties));
    MessageProperties few;
    few.encoded[MessageProperties::to] = "\xa1\x02to";
    written.clear();
    few.write(written);
    CHECK(decode(written) ==
          Value::described(section::properties, Value::list({Value{}, Value{}, "to"})));
}

TEST_CASE("find_entry: finds the first entry by symbol or string, and nothing outside a map") {
    const std::string map =
        section_of(section::message_annotations, Value::map({{std::uint64_t{1}, "number"},
                                                             {Value::symbol("a"), "A"},
                                                             {"b", Value{}},
                                                             {"a", "again"}}));
    CHECK(decode(find_entry(map, "a")) == Value{"A"});
    CHECK(decode(find_entry(map, "b")) == Value{});
    CHECK(find_entry(map, "c").empty());
    CHECK(find_entry({}, "a").empty());
    CHECK(find_entry(section_of(section::message_annotations, Value{}), "a").empty());
    CHECK(
        find_entry(section_of(section::message_annotations, Value::list({"a", "b"})), "a").empty());
}

TEST_CASE("visit_entries: returns whether the map is well-formed") {
    const auto walks = [](std::string_view bytes) {
        return visit_entries(bytes, [](std::string_view, std::string_view) {});
    };
    CHECK(walks({}));
    CHECK(walks(section_of(section::footer, Value{})));
    CHECK(walks(section_of(section::footer, Map{})));
    CHECK_FALSE(walks(section_of(section::footer, List{})));
    CHECK_FALSE(walks("\0\x53\x78\xc1\x03\x02\xa1\0"s)); // a key without a value
    CHECK_FALSE(walks("\0\x53\x78\xc1\x02\x01\x40"s));
    CHECK_FALSE(walks("\0\x53\x78\xc1\x04\x02\x40\x40\x40"s)); // more entries than the count says
}

TEST_CASE("MessageSections: a truncated message has fewer sections or none") {
    for (const std::string& whole :
         {by_rhea(), by_proton(), encode_message(rich_message(), noon)}) {
        const MessageSections all = *MessageSections::find(whole);
        for (std::size_t length = 0; length < whole.size(); ++length) {
            CAPTURE(length);
            // a buffer of this length, so that sanitizers notice reads beyond it
            const std::string part = whole.substr(0, length);
            const auto found = MessageSections::find(part);
            if (found) { // cut between two sections
                CHECK(found->body.size() < all.body.size());
            }
        }
    }
}

TEST_CASE("visit_fields, visit_entries: a changed section is read as its tree is, or not at all") {
    std::mt19937 random{11};
    const std::string list = section_of(
        section::header, Value::list({true, std::uint8_t{9}, Value{}, Value{}, "text", Value{},
                                      std::uint32_t{300}, Value::list({"a"}), Value{}}));
    const std::string map =
        section_of(section::footer, Value::map({{Value::symbol("a"), std::int64_t{1}},
                                                {"b", "B"},
                                                {std::uint64_t{1}, "number"},
                                                {Value::symbol("c"), Value{}}}));
    std::size_t sound = 0;
    for (int round = 0; round < 100'000; ++round) {
        std::string bytes = round % 2 == 0 ? list : map;
        bytes[3 + random() % (bytes.size() - 3)] = static_cast<char>(random());
        Decoder decoder{bytes};
        REQUIRE(decoder.read_descriptor());
        const auto tree = decoder.read();
        CAPTURE(round);
        if (const auto* items = tree ? tree->as<List>() : nullptr;
            items != nullptr && items->size() <= 9) {
            List seen(items->size());
            CHECK(visit_fields(bytes, 9, [&seen](std::uint32_t index, std::string_view field) {
                seen.at(index) = *decode(field);
            }));
            CHECK(seen == *items);
            ++sound;
        } else if (const auto* entries = tree ? tree->as<Map>() : nullptr) {
            Map seen;
            CHECK(visit_entries(bytes, [&seen](std::string_view name, std::string_view value) {
                seen.emplace_back(std::string{name}, *decode(value));
            }));
            Map wanted;
            for (const auto& [key, value] : *entries) {
                if (const auto name = key.bytes()) {
                    wanted.emplace_back(std::string{*name}, value);
                }
            }
            CHECK(seen == wanted);
            ++sound;
        } else {
            std::uint32_t most = 0;
            static_cast<void>(visit_fields(
                bytes, 9, [&most](std::uint32_t index, auto) { most = std::max(most, index); }));
            CHECK(most < 9); // callers keep so many
            static_cast<void>(visit_entries(bytes, [](auto, auto) {}));
        }
    }
    CHECK(sound > 10'000);
}

TEST_CASE("MessageHeader: fields of other types count as absent, malformed ones as none") {
    const auto read = [](std::string_view list) {
        return MessageHeader::read("\0\x53\x70"s.append(list));
    };
    const auto other = read("\xc0\x0b\x05\xa1\x01x\xa1\x01y\x41\x43\x54\x07"s);
    REQUIRE(other);
    CHECK_FALSE(other->durable);
    CHECK(other->priority == 4);
    CHECK_FALSE(other->time_to_live);
    CHECK_FALSE(other->first_acquirer);
    CHECK(other->delivery_count == 0);
    CHECK(read("\xc0\x04\x03\x41\x40\x43"s)->time_to_live == 0U);
    CHECK_FALSE(read("\xc0\x04\x02\x41\x40\x43"s));             // more than the count says
    CHECK_FALSE(read("\xc0\x03\x03\x41\x40"s));                 // fewer
    CHECK_FALSE(read("\xc0\x03\x02\x41\xa1"s));                 // a string without its size
    CHECK_FALSE(read("\xc0\x07\x06\x40\x40\x40\x40\x40\x40"s)); // too many
    CHECK_FALSE(read("\xc1\x01\x00"s));                         // no list
}
