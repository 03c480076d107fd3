// SPDX-License-Identifier: MIT
#include "amqp/codec/section_fields.hpp"

#include <doctest/doctest.h>

#include "amqp/codec/message_codec.hpp"
#include "codec/samples.hpp"

using namespace sessionq;
using namespace sessionq::amqp;

namespace {

/// Names the fields of a message's properties that have another type than the standard's.
std::string mistyped(std::string_view section) {
    std::string names;
    const auto properties = MessageProperties::read(section);
    REQUIRE(properties);
    for (std::size_t i = 0; i < properties_fields.size(); ++i) {
        const std::string_view value = properties->encoded[i];
        if (!value.empty() && !has_type(properties_fields[i], value)) {
            names += std::string{properties_fields[i].name} + " ";
        }
    }
    return names;
}

} // namespace

TEST_CASE("section fields: all that writes a field gives it the type of its definition") {
    const std::string made = encode_message(rich_message(), noon);
    CHECK(mistyped(parse(made)->sections().properties) == "");
    ContentChanges changes;
    for (const TextField field :
         {TextField::content_type, TextField::correlation_id, TextField::message_id,
          TextField::reply_to, TextField::reply_to_session_id, TextField::session_id,
          TextField::subject, TextField::to}) {
        changes.texts.emplace_back(field, "changed");
    }
    for (const std::string& original : {made, by_rhea(), by_proton()}) {
        const auto changed = parse(original)->with_changes(changes);
        const auto& content = dynamic_cast<const EncodedContent&>(*changed);
        CHECK(mistyped(content.sections().properties) == "");
        CHECK(content.message().content_type == "changed");
        CHECK(content.properties().encoded[MessageProperties::content_type] == "\xa3\x07"
                                                                               "changed");
    }
}

TEST_CASE("section fields: has_type knows each encoding of a type, and no other") {
    const auto fits = [](MessageProperties::Field field, const Value& value) {
        return has_type(properties_fields[field], encode(value));
    };
    using Properties = MessageProperties;
    for (const Value& id : {Value{std::uint64_t{0}}, Value{std::uint64_t{300}}, Value{some_uuid()},
                            Value::binary("x"), Value{"text"}, Value{}}) {
        CHECK(fits(Properties::message_id, id));
    }
    CHECK_FALSE(fits(Properties::message_id, std::int64_t{1}));
    CHECK(fits(Properties::content_type, Value::symbol("a")));
    CHECK_FALSE(fits(Properties::content_type, "a"));
    CHECK(fits(Properties::subject, std::string(300, 'x')));
    CHECK_FALSE(fits(Properties::subject, Value::symbol("a")));
    CHECK(fits(Properties::user_id, Value::binary("x")));
    CHECK(fits(Properties::creation_time, Timestamp{1}));
    CHECK(fits(Properties::group_sequence, std::uint32_t{1}));
    CHECK_FALSE(fits(Properties::group_sequence, std::uint64_t{1}));
    CHECK(has_type(header_fields[0], encode(true)));
    CHECK(has_type(header_fields[1], encode(std::uint8_t{4})));
    CHECK_FALSE(has_type(header_fields[1], encode(std::uint32_t{4})));
}
