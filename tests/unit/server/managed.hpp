// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "amqp/codec/lock_token.hpp"
#include "front.hpp"

namespace sessionq::test {

/// A client that can hold a session of "orders" and send requests to an entity's management node.
struct Managed : Front {
    explicit Managed(const std::string& entity = "orders", server::Limits limits = {})
        : Front{limits} {
        enter();
        LinkLog& reading = receive("answers", entity + "/$management");
        reading.receiver->add_credit(1000);
        answers = &reading;
        requests = &send("requests", entity + "/$management");
    }

    Reply ask(const char* operation, const amqp::Value& body, const char* link = "") {
        amqp::Value properties =
            amqp::Value::map({{"operation", std::string{"com.microsoft:"} + operation},
                              {"associated-link-name", link}});
        requests->sender->send("1", request("id", "answers", std::move(properties), body), true);
        const std::size_t before = answers->messages.size();
        run();
        REQUIRE(answers->messages.size() == before + 1);
        const Reply reply = read_reply(answers->messages.back());
        CHECK(reply.correlation == amqp::Value{"id"});
        return reply;
    }

    LinkLog& hold(const char* id) { return receive("holder", by_session("orders", id)); }

    /// Returns the encoded messages of an answer.
    std::vector<std::string> messages(const Reply& reply) {
        std::vector<std::string> all;
        const amqp::Value* list = reply.body.find("messages");
        REQUIRE(list != nullptr);
        for (const amqp::Value& item : *list->items()) {
            all.emplace_back(item.find("message")->bytes().value());
        }
        return all;
    }
    std::vector<std::string> bodies(const Reply& reply) {
        std::vector<std::string> all;
        for (const std::string& encoded : messages(reply)) {
            all.emplace_back(amqp::decode_delivery(encoded, reading()).value().content->body());
        }
        return all;
    }

    LinkLog* answers{nullptr};
    LinkLog* requests{nullptr};
};

inline amqp::Value longs(std::initializer_list<std::int64_t> numbers) {
    return amqp::Array{.element = 0x81, .items = {numbers.begin(), numbers.end()}};
}

inline amqp::Value uuids(std::vector<amqp::Value> tokens) {
    return amqp::Array{.element = 0x98, .items = std::move(tokens)};
}

inline Message message(const char* session, const char* body) {
    return Message::of(body).in_session(session);
}

} // namespace sessionq::test
