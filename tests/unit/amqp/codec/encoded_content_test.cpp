// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/encoded_content.hpp"
#include "amqp/codec/message_codec.hpp"
#include "amqp/codec/resent_message.hpp"
#include "codec/samples.hpp"
#include "support/code_of.hpp"
#include "support/random_message.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace std::chrono_literals;
using namespace std::string_literals;

TEST_CASE("EncodedContent: returns every kind of body as bytes") {
    const auto body_of = [](std::string bytes) {
        return std::string{parse(std::move(bytes))->body()};
    };
    CHECK(body_of(section_of(0x75, Value::binary("a")) + section_of(0x75, Value::binary("b"))) ==
          "ab");
    CHECK(body_of(section_of(0x78, Value::map({})) + section_of(0x75, Value::binary("a"))) == "a");
    CHECK(body_of(section_of(0x77, "text")) == "text");
    CHECK(body_of(section_of(0x77, Value::binary("bytes"))) == "bytes");
    CHECK(body_of(section_of(0x77, Value::map({{"a", true}}))) ==
          encode(Value::map({{"a", true}})));
    CHECK(body_of(section_of(0x76, Value::list({"a"}))) == encode(Value::list({"a"})));
    CHECK(body_of("") == "");
}

TEST_CASE("EncodedContent: returns every type of message id as text") {
    const auto id_of = [](Value id) {
        return std::string{parse(section_of(0x73, Value::list({std::move(id)})))->message_id()};
    };
    core::Uuid uuid = *core::Uuid::parse("00112233-4455-6677-8899-aabbccddeeff");
    CHECK(id_of("id") == "id");
    CHECK(id_of(std::uint64_t{7}) == "7");
    CHECK(id_of(uuid) == "00112233-4455-6677-8899-aabbccddeeff");
    CHECK(id_of(Value{}) == "");
}

TEST_CASE("EncodedContent: shows the message annotations, those of brokers and of senders") {
    const auto content = parse(section_of(0x72, Value::map({{Value::symbol("x-own"), "mine"},
                                                            {Value::symbol("x-opt-n"), true}})) +
                               section_of(0x75, Value::binary("b")));
    CHECK(content->annotations() == Properties{{"x-opt-n", true}, {"x-own", "mine"s}});
    CHECK(content->annotation("x-own") == PropertyValue{"mine"s});
    CHECK_FALSE(content->annotation("x-none"));
    CHECK(parse(section_of(0x75, Value::binary("b")))->annotations().empty());
    CHECK_FALSE(parse(section_of(0x75, Value::binary("b")))->annotation("x-own"));
    const auto broken = parse(section_of(0x72, "no map") + section_of(0x75, Value::binary("b")));
    CHECK_THROWS_AS(static_cast<void>(broken->annotations()), Error);
    CHECK_FALSE(broken->annotation("x-own"));
}

TEST_CASE("EncodedContent: the body by its kind") {
    const auto body_of = [](const std::string& sections) {
        const auto content = parse(sections);
        const Message& message = content->message();
        CHECK(message.body ==
              (message.value || message.sequence ? std::string_view{} : content->body()));
        return std::string{content->body()};
    };
    const auto data = [](const char* bytes) { return section_of(0x75, Value::binary(bytes)); };
    CHECK(body_of(data("x")) == "x");
    CHECK(body_of(data("x") + data("") + data("z")) == "xz");
    CHECK(body_of(data("") + data("")).empty());
    CHECK(body_of(section_of(0x77, "text")) == "text");
    CHECK(body_of(section_of(0x77, Value::binary("bytes"))) == "bytes");
    CHECK(body_of(section_of(0x77, Value{})).empty()); // a JMS message without a body
    CHECK(body_of(section_of(0x77, true)) == encode(true));
    CHECK(body_of(section_of(0x76, List{true})) == encode(List{true}));
    CHECK(body_of(section_of(0x73, List{})).empty());
}

TEST_CASE("EncodedContent: a value and a sequence are read with their types") {
    const auto value_of = [](const Value& value) {
        const ReceivedMessage received{parse(section_of(0x77, value)), {}};
        CHECK(test::code_of([&] { static_cast<void>(received.sequence()); }) ==
              Errc::invalid_state);
        return received.value();
    };
    CHECK(value_of("text") == "text");
    CHECK(value_of(Value{}).is_null());
    CHECK(value_of(std::int32_t{5}).scalar()->type() == ValueType::int32);
    CHECK(value_of(Value::symbol("s")).scalar()->type() == ValueType::symbol);
    CHECK(value_of(Value::map({{"k", Value::list({true, Value{}})}})) ==
          AmqpMap{{"k", AmqpList{true, AmqpValue{}}}});
    CHECK(value_of(some_of_everything()).list()->size() == some_of_everything().items()->size());
    const std::string two = section_of(0x76, Value::list({"a", true})) + section_of(0x76, List{}) +
                            section_of(0x76, Value::list({std::int64_t{7}}));
    const ReceivedMessage received{parse(two), {}};
    CHECK(received.sequence() == AmqpList{"a", true, 7});
    CHECK(&received.sequence() == &received.sequence()); // it is decoded once
    CHECK(received.copy() == Message::of_sequence({"a", true, 7}));
}

TEST_CASE("EncodedContent: tells the kind of the body, and keeps it through changes") {
    const auto data = section_of(0x75, Value::binary("x"));
    for (const auto& [body, kind] :
         {std::pair{std::string{}, BodyKind::none}, std::pair{data, BodyKind::data},
          std::pair{data + data, BodyKind::several_data},
          std::pair{section_of(0x76, List{true}), BodyKind::sequence},
          std::pair{section_of(0x77, std::int32_t{5}), BodyKind::value}}) {
        const auto content = parse(section_of(0x73, List{"id"}) + body);
        CHECK(content->body_kind() == kind);
        const auto changed = content->with_properties({{"p", true}});
        CHECK(changed->body_kind() == kind);
        CHECK(dynamic_cast<const EncodedContent&>(*changed).sections().body == body);
    }
    CHECK(DecodedContent{Message::of("x").in_session("s")}.body_kind() == BodyKind::data);
}

TEST_CASE("EncodedContent: properties of random messages keep their types through changes") {
    core::Random random{11};
    for (int i = 0; i < 300; ++i) {
        const auto content = parse(tests::random_message(random));
        Properties properties = content->message().properties;
        const auto changed = content->with_properties(properties);
        CHECK(changed->message().properties.size() == properties.size());
        visit_entries(content->sections().application_properties, [&](std::string_view name,
                                                                      std::string_view value) {
            const auto& now = dynamic_cast<const EncodedContent&>(*changed);
            const std::string_view held = find_entry(now.sections().application_properties, name);
            CHECK(encode(*decode(held)) == encode(*decode(value)));
        });
    }
}

TEST_CASE("EncodedContent: a year that the clock cannot hold is beyond, and its bytes stay") {
    const Timestamp year_9999{253'402'300'799'999};
    List fields{"id"};
    fields.resize(8);
    fields.emplace_back(year_9999);
    fields.emplace_back(Timestamp{1'700'000'000'000});
    const std::string made =
        section_of(0x70,
                   Value::list({Value{}, Value{}, std::numeric_limits<std::uint32_t>::max()})) +
        section_of(0x72, Value::map({{Value::symbol("x-opt-scheduled-enqueue-time"), year_9999},
                                     {Value::symbol("x-own"), year_9999}})) +
        section_of(0x73, fields) + section_of(0x75, Value::binary("b"));
    const auto content = parse(made);
    CHECK(content->absolute_expiry_time() == WallTime::max());
    CHECK(content->scheduled_enqueue_time() == WallTime::max());
    CHECK(content->time_to_live() ==
          std::chrono::milliseconds{253'402'300'799'999 - 1'700'000'000'000});
    CHECK(content->annotation("x-own") ==
          PropertyValue{FarTime{std::chrono::milliseconds{year_9999.milliseconds}}});
    const auto delivery = decode_delivery(encode_delivery(*content, {.facts = {}}, noon), noon);
    REQUIRE(delivery.ok());
    CHECK(delivery.value().facts.expires_at == WallTime::max());
    CHECK(delivery.value().content->sections().properties == content->sections().properties);
}

TEST_CASE("EncodedContent: rejects a message that is cut inside a section") {
    const std::string whole = encode_message(rich_message(), noon);
    for (std::size_t length = 1; length < whole.size(); ++length) {
        const auto made = EncodedContent::make(whole.substr(0, length), noon);
        if (made.ok()) { // cut between two sections
            CHECK(made.value()->body().empty());
        } else {
            CHECK(made.failure().code == Errc::protocol_error);
        }
    }
    CHECK_FALSE(EncodedContent::make("garbage", noon).ok());
    CHECK_FALSE(
        EncodedContent::make(section_of(0x73, List{}) + section_of(0x73, List{}), noon).ok());
    CHECK_FALSE(
        EncodedContent::make(section_of(0x75, Value::binary("a")) + section_of(0x77, "v"), noon)
            .ok());
    CHECK_FALSE(
        EncodedContent::make(section_of(0x70, List{}) + section_of(0x70, List{}), noon).ok());
}

TEST_CASE("EncodedContent: malformed application properties fail only when they are read") {
    const std::string bad =
        "\0\x53\x74\xc1\x05\x02\xa1\x01k\xff"s + section_of(0x75, Value::binary("b"));
    const auto content = parse(bad);
    CHECK(content->body() == "b");
    CHECK_THROWS_AS(static_cast<void>(content->message()), Error);
}

TEST_CASE("EncodedContent: with_properties changes the application properties only") {
    const std::string annotations =
        section_of(0x72, Value::map({{Value::symbol("x-own"), std::int32_t{5}}}));
    const std::string properties =
        section_of(0x73, Value::list({std::uint64_t{7}, Value::binary("user")}));
    const std::string own =
        section_of(0x74, Value::map({{"kept", std::int16_t{1}}, {"changed", "old"}}));
    const auto content = parse(annotations + properties + own + section_of(0x77, "v"));
    const MessageContentPtr changed = content->with_properties({{"changed", std::string{"new"}}});
    const auto& encoded = dynamic_cast<const EncodedContent&>(*changed);
    CHECK(encoded.sections().message_annotations == annotations);
    CHECK(encoded.sections().properties == properties);
    CHECK(changed->message_id() == "7");
    CHECK(changed->body() == "v");
    CHECK(decode(find_entry(encoded.sections().application_properties, "kept")) ==
          Value{std::int16_t{1}});
    CHECK(changed->message().properties ==
          Properties{{"changed", std::string{"new"}}, {"kept", std::int64_t{1}}});
}

TEST_CASE(
    "EncodedContent: with_properties keeps deadline, id, data sections and the sender's encoding") {
    const auto content = parse(by_rhea());
    const MessageContentPtr changed = content->with_properties({{"more", std::int64_t{1}}});
    CHECK(changed->message_id() == "m-1");
    CHECK(changed->session_id() == "s-1");
    CHECK(changed->body() == "body");
    CHECK(changed->message().properties.size() == content->message().properties.size() + 1);
    const auto& encoded = dynamic_cast<const EncodedContent&>(*changed);
    CHECK(encoded.sections().header == content->sections().header);
    CHECK(encoded.sections().body == content->sections().body);
    const auto due =
        parse(encode_message({.body = "b", .deadline = Deadline::at(noon.now + 30s)}, noon));
    CHECK(due->with_properties({{"k", true}})->deadline() == Deadline::at(noon.now + 30s));
}

TEST_CASE("EncodedContent: one property is decoded without the others") {
    const auto content =
        parse(section_of(0x74, Value::map({{"text", "t"}, {"number", std::int16_t{1}}})) +
              section_of(0x77, "v"));
    CHECK(content->property("text") == PropertyValue{std::string{"t"}});
    CHECK(content->property("number") == PropertyValue{std::int64_t{1}});
    CHECK_FALSE(content->property("none").has_value());
    CHECK_FALSE(parse(section_of(0x77, "v"))->property("text").has_value());
    const auto due =
        parse(encode_message({.body = "b", .deadline = Deadline::at(noon.now + 30s)}, noon));
    CHECK_FALSE(due->property(time_left_property).has_value());
}

TEST_CASE("EncodedContent: the outline has the fields of the header") {
    const auto content =
        parse(encode_message({.body = "b", .time_to_live = 5s, .priority = 7}, noon));
    CHECK(content->outline().value().time_to_live == 5s);
    CHECK(content->outline().value().priority == 7);
}

TEST_CASE("EncodedContent: with_changes sets and removes text fields and keeps the other "
          "properties' bytes") {
    const std::string properties =
        section_of(0x73, Value::list({std::uint64_t{7}, Value::binary("user"), "to", "subject"}));
    const std::string own =
        section_of(0x74, Value::map({{"kept", std::int16_t{1}}, {"gone", "x"}}));
    const auto content = parse(properties + own + section_of(0x77, "v"));
    const MessageContentPtr changed =
        content->with_changes({.removed = {"gone"},
                               .texts = {{TextField::to, {}},
                                         {TextField::subject, "new"},
                                         {TextField::session_id, "s"},
                                         {TextField::subject, "newer"}}});
    const auto& encoded = dynamic_cast<const EncodedContent&>(*changed);
    CHECK(encoded.properties().value(MessageProperties::message_id) == Value{std::uint64_t{7}});
    CHECK(encoded.properties().value(MessageProperties::user_id) == Value::binary("user"));
    CHECK(changed->message().to.empty());
    CHECK(changed->message().subject == "newer");
    CHECK(changed->session_id() == "s");
    CHECK(changed->message().properties == Properties{{"kept", std::int64_t{1}}});
    CHECK(encoded.sections().body == content->sections().body);
    CHECK(content->outline().value().subject == "subject");
    CHECK(content->outline().value().body.empty());
}

TEST_CASE("EncodedContent: a message that cannot be decoded has no outline") {
    const auto content =
        parse("\0\x53\x74\xc1\x05\x02\xa1\x01k\xff"s + section_of(0x75, Value::binary("b")));
    CHECK_FALSE(content->outline());
}

TEST_CASE("EncodedContent: a JMS client's delivery time delays, but Service Bus's own time wins") {
    const auto annotated = [](std::initializer_list<std::pair<Value, Value>> annotations) {
        return parse(section_of(0x72, Value::map(annotations)) +
                     section_of(0x75, Value::binary("b")));
    };
    const auto entry = [](const char* name, Value value) {
        return std::pair{Value::symbol(name), std::move(value)};
    };
    const auto jms = annotated({entry("x-opt-delivery-time", std::int64_t{1'700'000'000'000})});
    CHECK(jms->scheduled_enqueue_time() == WallTime{1'700'000'000'000ms});
    CHECK_FALSE(jms->outline().value().scheduled_enqueue_time);
    const auto both =
        annotated({entry("x-opt-delivery-time", std::int64_t{1'700'000'000'000}),
                   entry("x-opt-scheduled-enqueue-time", Timestamp{1'700'000'060'000})});
    CHECK(both->scheduled_enqueue_time() == WallTime{1'700'000'060'000ms});
    CHECK(both->outline().value().scheduled_enqueue_time == WallTime{1'700'000'060'000ms});
}

TEST_CASE("EncodedContent: reads what rhea wrote") {
    const auto content = parse(by_rhea());
    CHECK(content->body() == "body");
    CHECK(content->time_to_live() == 90s);
    CHECK(content->scheduled_enqueue_time() == WallTime{1'700'000'060'000ms});
    CHECK(content->header().durable);
    CHECK(content->header().priority == 7);
    CHECK(content->header().delivery_count == 3);
    CHECK(content->deadline().is_never());
    const Message& message = content->message();
    CHECK(message.session_id == "s-1");
    CHECK(message.message_id == "m-1");
    CHECK(message.subject == "subject");
    CHECK(message.to == "orders");
    CHECK(message.reply_to == "answers");
    CHECK(message.correlation_id == "c-1");
    CHECK(message.content_type == "text/plain");
    CHECK(message.reply_to_session_id == "r-1");
    CHECK(message.properties ==
          Properties{{"bin", std::vector<std::byte>{std::byte{1}, std::byte{0}, std::byte{255}}},
                     {"byte", std::int64_t{-5}},
                     {"double", -2.25},
                     {"flag", true},
                     {"float", 1.5},
                     {"int", std::int64_t{100'000}},
                     {"long", std::int64_t{-5'000'000'000}},
                     {"none", {}},
                     {"off", false},
                     {"short", std::int64_t{-300}},
                     {"sym", std::string{"symbol"}},
                     {"text", std::string{"t"}},
                     {"ubyte", std::int64_t{200}},
                     {"uint", std::int64_t{4'000'000'000}},
                     {"ulong", std::uint64_t{5'000'000'000}},
                     {"ushort", std::int64_t{60'000}},
                     {"when", WallTime{1'700'000'000'123ms}}});
}

TEST_CASE("EncodedContent: reads what Proton wrote") {
    const auto content = parse(by_proton());
    CHECK(content->body() == "body");
    CHECK(content->message_id() == "00112233-4455-6677-8899-aabbccddeeff");
    CHECK(content->message().correlation_id == "77");
    CHECK(content->message().session_id == "s-1");
    CHECK(content->time_to_live() == 30s);
}

TEST_CASE("EncodedContent: R22: a time left out of the clock's range is never or over") {
    const auto deadline_of = [](Value carried) {
        return parse(section_of(section::application_properties,
                                Value::map({{time_left_property, std::move(carried)}})))
            ->deadline();
    };
    CHECK(deadline_of(std::numeric_limits<std::int64_t>::max()).is_never());
    CHECK(deadline_of(std::numeric_limits<std::int64_t>::min()).passed(noon.now));
    CHECK(deadline_of(std::int64_t{0}).passed(noon.now));
    CHECK(deadline_of(std::int64_t{1000}) == Deadline::at(noon.now + 1s));
    CHECK(deadline_of(std::uint32_t{1000}) == Deadline::at(noon.now + 1s)); // of another peer
    CHECK(deadline_of("soon").is_never());
}

TEST_CASE("EncodedContent: creation and expiry times give a time to live that exceeds its field") {
    CHECK(parse(encode_message({.body = "b", .time_to_live = 24h * 365}, noon))->time_to_live() ==
          24h * 365);
    const auto endless = parse(
        section_of(section::header,
                   Value::list({Value{}, Value{}, std::numeric_limits<std::uint32_t>::max()})));
    CHECK(endless->time_to_live() ==
          std::chrono::milliseconds{std::numeric_limits<std::uint32_t>::max()});
}

TEST_CASE("EncodedContent: several threads may call message() at once") {
    const auto content = parse(by_rhea());
    std::vector<const Message*> seen(4);
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (const Message*& place : seen) {
        threads.emplace_back([&] {
            while (!go) {
            }
            place = &content->message();
        });
    }
    go = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const Message* message : seen) {
        CHECK(message == &content->message());
    }
}

namespace {

std::string unreadable(std::string bytes) {
    const auto why = parse(std::move(bytes))->find_unreadable();
    CHECK((!why || why->code == Errc::protocol_error));
    return why ? why->detail : "";
}

/// A map section whose entries are encoded by hand.
std::string map_section(char code, std::uint8_t count, std::string_view entries) {
    std::string made{"\0\x53", 2};
    made += code;
    made += '\xc1';
    made += static_cast<char>(entries.size() + 1);
    made += static_cast<char>(count);
    made += entries;
    return made;
}

constexpr std::string_view million_times_true{"\xf0\0\0\0\x05\0\x0f\x42\x40\x41", 10};

} // namespace

TEST_CASE("EncodedContent: names what of a message nobody can decode") {
    const std::string why = "the message cannot be decoded: malformed ";
    CHECK(unreadable(by_proton()).empty());
    CHECK(unreadable(by_rhea()).empty());
    CHECK(unreadable("").empty());
    const std::string array = "\xa1\x01k" + std::string{million_times_true};
    CHECK(unreadable(map_section('\x74', 2, array)) == why + "application property 'k'");
    CHECK(unreadable(map_section('\x72', 2, array)) == why + "annotation 'k'");
    CHECK(unreadable(map_section('\x71', 2, array)) == why + "annotation 'k'");
    CHECK(unreadable(map_section('\x74', 1, "\xa1\x01k")) == why + "application properties");
    CHECK(unreadable(map_section('\x72', 2, "\xa1\x01k")) == why + "message annotations");
    CHECK(unreadable(map_section('\x71', 4, "\xa1\x01k\x41")) == why + "delivery annotations");
    CHECK(unreadable(map_section('\x74', 2, "\x46\x41")) == why + "application properties");
    CHECK(unreadable(map_section('\x74', 2, "\xa1\x01\x1b\x46")) ==
          why + "application property '?'");
    CHECK(unreadable(section_of(0x74, "no map")) == why + "application properties");
    CHECK(unreadable("\0\x53\x73\xc0\x02\x01\x46"s) == why + "property 'message-id'");
    CHECK(unreadable("\0\x53\x73\xc0\x0b\x06\x40\x40\x40\x40\x40\xe0\x03\xff\x41\x41"s) ==
          why + "property 'correlation-id'");
    // Odd, but each reader can decode it.
    CHECK(unreadable(map_section('\x74', 2, "\x53\x01\x41")).empty());
    CHECK(unreadable(section_of(0x74, Value{})).empty());
    CHECK(unreadable(section_of(0x73, Value::list({List{}, "x", std::int64_t{1}}))).empty());
    CHECK(unreadable(section_of(0x74, Value::map({{"\xff\xfe", Value::symbol("\xc0")}}))).empty());
    CHECK(unreadable("\0\x53\x77"s + std::string{million_times_true}).empty()); // bytes to us
}

TEST_CASE("EncodedContent: a body of another kind is told, and one that cannot be decoded") {
    const auto received = [](const std::string& body) {
        return ReceivedMessage{parse(section_of(0x73, List{"m-1"}) + body), {}};
    };
    const auto complaint_of = [](const auto& read) {
        try {
            read();
        } catch (const Error& error) {
            return std::pair{error.failure().code, error.failure().detail};
        }
        return std::pair{Errc{}, std::string{}};
    };
    const auto value_of = [&](const std::string& body) {
        return complaint_of([&] { static_cast<void>(received(body).value()); });
    };
    const auto sequence_of = [&](const std::string& body) {
        return complaint_of([&] { static_cast<void>(received(body).sequence()); });
    };
    CHECK(
        value_of(section_of(0x75, Value::binary("b"))) ==
        std::pair{Errc::invalid_state, "message 'm-1': the kind of the body is data, not value"s});
    CHECK(sequence_of(section_of(0x77, "b")) ==
          std::pair{Errc::invalid_state,
                    "message 'm-1': the kind of the body is value, not sequence"s});
    const std::string bad_value = "\0\x53\x77"s + std::string{million_times_true};
    const std::string bad_sequence = section_of(0x76, "no list");
    CHECK(value_of(bad_value) == std::pair{Errc::protocol_error,
                                           "message 'm-1': the body cannot be decoded: "
                                           "malformed value"s});
    CHECK(sequence_of(bad_sequence) == std::pair{Errc::protocol_error,
                                                 "message 'm-1': the body cannot be decoded: "
                                                 "malformed sequence"s});
    for (const std::string& bad : {bad_value, bad_sequence}) { // they can be sent on as bytes
        const ReceivedMessage message = received(bad);
        CHECK_FALSE(message.text().empty());
        CHECK(message.copy().body == message.text());
    }
}

TEST_CASE("EncodedContent: of equal names the first counts, however they are read") {
    const auto content =
        parse(section_of(0x72, Value::map({{Value::symbol("a"), "1"}, {Value::symbol("a"), "2"}})) +
              section_of(0x74, Value::map({{"p", "1"}, {"p", "2"}})));
    CHECK(content->find_unreadable() == std::nullopt);
    CHECK(content->property("p") == PropertyValue{"1"s});
    CHECK(content->message().properties == Properties{{"p", "1"s}});
    CHECK(content->annotation("a") == PropertyValue{"1"s});
    CHECK(content->annotations() == Properties{{"a", "1"s}});
}

TEST_CASE("EncodedContent: what is not found unreadable is read in each way, whatever the bytes") {
    core::Random random{5};
    std::size_t readable = 0;
    std::size_t refused = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::string bytes = tests::damaged(tests::random_message(random), random);
        const auto made = EncodedContent::make(bytes, noon);
        if (!made.ok() || made.value()->find_unreadable()) {
            ++refused;
            continue;
        }
        ++readable;
        const EncodedContent& content = *made.value();
        CAPTURE(to_hex(bytes));
        REQUIRE(content.outline());
        REQUIRE_NOTHROW(static_cast<void>(content.message()));
        REQUIRE_NOTHROW(static_cast<void>(content.annotations()));
        for (const auto& [name, value] : content.message().properties) {
            REQUIRE(content.property(name));
        }
        for (const auto& [name, value] : content.annotations()) {
            REQUIRE(content.annotation(name));
        }
        REQUIRE(encode_resent(content, {}, noon.wall).ok());
    }
    CHECK(readable > 2'000);
    CHECK(refused > 2'000);
}

TEST_CASE("EncodedContent: reads one text property, as the whole message has it") {
    const auto content = EncodedContent::make(encode_message({.body = "b",
                                                              .session_id = "s",
                                                              .message_id = "m",
                                                              .subject = "subject",
                                                              .correlation_id = "c",
                                                              .reply_to = "r",
                                                              .reply_to_session_id = "rs",
                                                              .to = "t",
                                                              .content_type = "text/plain"},
                                                             {}),
                                              {})
                             .value();
    CHECK(content->text(TextField::session_id) == "s");
    CHECK(content->text(TextField::message_id) == "m");
    CHECK(content->text(TextField::subject) == "subject");
    CHECK(content->text(TextField::correlation_id) == "c");
    CHECK(content->text(TextField::reply_to) == "r");
    CHECK(content->text(TextField::reply_to_session_id) == "rs");
    CHECK(content->text(TextField::to) == "t");
    CHECK(content->text(TextField::content_type) == "text/plain");
    const auto subject = content->text(TextField::subject);
    CHECK(content->encoded().find(subject) ==
          static_cast<std::size_t>(subject.data() - content->encoded().data())); // no copy
    const auto none = parse(section_of(0x75, Value::binary("b")));
    CHECK(none->text(TextField::session_id).empty());
    CHECK(none->text(TextField::subject).empty());
    CHECK(none->text(TextField::correlation_id).empty());
}

TEST_CASE("EncodedContent: reads every type of correlation id as text") {
    const auto with_id = [](Value id) {
        return parse(section_of(
            0x73, Value::list({Value{}, Value{}, Value{}, Value{}, Value{}, std::move(id)})));
    };
    const core::Uuid uuid = *core::Uuid::parse("00112233-4455-6677-8899-aabbccddeeff");
    for (const Value& id :
         {Value{"id"}, Value{std::uint64_t{7}}, Value{uuid}, Value::binary("bytes"), Value{},
          Value{true}, Value::list({std::uint64_t{1}})}) { // the last two are not allowed
        const auto content = with_id(id);
        const std::string text{content->text(TextField::correlation_id)};
        CHECK(text == content->message().correlation_id);
        CHECK(text == content->MessageContent::text(TextField::correlation_id));
    }
    CHECK(with_id(std::uint64_t{7})->text(TextField::correlation_id) == "7");
    CHECK(with_id(uuid)->text(TextField::correlation_id) == uuid.to_string());
    CHECK(with_id(std::uint64_t{7})->bytes() > with_id("7")->bytes());
}

TEST_CASE("EncodedContent: text properties and single properties of a message whose other parts "
          "cannot be decoded") {
    const auto content = parse(section_of(0x73, Value::list({"m", Value{}, "t", "subject"})) +
                               section_of(0x74, "no map") + section_of(0x75, Value::binary("b")));
    const ReceivedMessage received{content, {}};
    CHECK(received.subject() == "subject");
    CHECK(received.to() == "t");
    CHECK(received.content_type().empty());
    CHECK_FALSE(received.property("p"));
    CHECK_THROWS_AS(static_cast<void>(received.properties()), Error);
    CHECK_THROWS_AS(static_cast<void>(received.copy()), Error);
}

TEST_CASE("EncodedContent: a copy to send on has the values with their types") {
    const Message sent{
        .body = "b",
        .session_id = "s",
        .message_id = "m",
        .subject = "subject",
        .properties = {{"narrow", PropertyValue{std::int64_t{5}, ValueType::int16}}, {"wide", 5U}},
        .time_to_live = 5s,
        .priority = 7,
        .scheduled_enqueue_time = WallTime{1h}};
    const ReceivedMessage received{EncodedContent::make(encode_message(sent, {}), {}).value(), {}};
    Message expected = sent;
    expected.scheduled_enqueue_time.reset();
    const Message copy = received.copy();
    CHECK(copy == expected);
    CHECK(copy.properties.at("narrow").type() == ValueType::int16);
    CHECK(received.property<int>("narrow") == 5);
    CHECK(received.property<double>("wide") == 5.0);
}
