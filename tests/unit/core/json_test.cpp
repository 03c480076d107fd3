// SPDX-License-Identifier: MIT
#include <sessionq/json.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

using namespace sessionq;
using nlohmann::json;

namespace {

ReceivedMessage received_json(Message message) {
    message.message_id = "m-1";
    return {std::make_shared<const DecodedContent>(std::move(message)), {}};
}

template <typename Call>
std::pair<Errc, std::string> complaint_of(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return {error.failure().code, error.failure().detail};
    }
    return {};
}

struct JsonOrder {
    std::string part{};
    int count{0};
};

void from_json(const json& from, JsonOrder& to) {
    from.at("part").get_to(to.part);
    from.at("count").get_to(to.count);
}

void to_json(json& to, const JsonOrder& from) {
    to = json{{"part", from.part}, {"count", from.count}};
}

} // namespace

TEST_CASE("json: a message has its text and its content type, and gives it back") {
    const json order{{"part", "bolt"}, {"count", 5}, {"tags", {"a", nullptr}}};
    const Message message = json_message(order);
    CHECK(message.content_type == "application/json");
    CHECK(json::parse(message.body) == order);
    CHECK(json_of(received_json(message)) == order);
    CHECK(json_of(received_json(json_message({{"a", 1}}))) == json{{"a", 1}});
    CHECK(json_of(received_json(Message::of_value("[1]"))) == json::array({1})); // as JMS sends it
}

TEST_CASE("json: types of the application are converted") {
    const ReceivedMessage received =
        received_json(json_message(JsonOrder{.part = "bolt", .count = 5}));
    const auto order = json_of<JsonOrder>(received);
    CHECK(order.part == "bolt");
    CHECK(order.count == 5);
    CHECK(json_of<int>(received_json(Message::of("7"))) == 7);
}

TEST_CASE("json: an error names the message") {
    const auto parsed =
        complaint_of([] { static_cast<void>(json_of(received_json(Message::of("{\"a\": x}")))); });
    CHECK(parsed.first == Errc::invalid_argument);
    CHECK(parsed.second == "message 'm-1': the body is not JSON, at byte 7");
    CHECK(complaint_of([] { static_cast<void>(json_of(received_json(Message{}))); }).first ==
          Errc::invalid_argument);
    const auto converted = complaint_of(
        [] { static_cast<void>(json_of<JsonOrder>(received_json(Message::of("{\"part\": 5}")))); });
    CHECK(converted.first == Errc::invalid_argument);
    CHECK(converted.second.find("message 'm-1': the JSON is of another form: ") == 0);
    CHECK(complaint_of([] { static_cast<void>(json_of(ReceivedMessage{})); }).first ==
          Errc::invalid_state);
}

TEST_CASE("json: what JSON cannot hold is refused before it is sent") {
    CHECK(complaint_of([] { static_cast<void>(json_message("\xff")); }).first ==
          Errc::invalid_argument);
    const json discarded = json::parse("{", nullptr, false);
    CHECK(complaint_of([&] { static_cast<void>(json_message(discarded)); }).second ==
          "json_message: the value is discarded");
}
