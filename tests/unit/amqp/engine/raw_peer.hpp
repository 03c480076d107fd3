// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../wire.hpp"
#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "core/byte_order.hpp"

namespace sessionq::test {

/// A frame as an engine wrote it.
struct SeenFrame {
    std::uint16_t channel{0};
    std::uint64_t code{0}; // zero: a heartbeat
    amqp::List fields{};
    std::string payload{};
    std::size_t size{0};

    [[nodiscard]] const amqp::Value& at(std::size_t index) const { return fields.at(index); }
    [[nodiscard]] std::int64_t number(std::size_t index) const {
        return at(index).integer().value_or(-1);
    }
    [[nodiscard]] bool is_true(std::size_t index) const {
        const bool* const value = at(index).as<bool>();
        return value != nullptr && *value;
    }
    /// The condition of an error in a field; empty if it is null.
    [[nodiscard]] std::string condition(std::size_t index) const {
        const amqp::Described* const error = at(index).described();
        return error != nullptr
                   ? std::string{error->value.as<amqp::List>()->at(0).text().value_or("")}
                   : std::string{};
    }
};

inline std::string frame(std::uint64_t code, amqp::List fields, std::string_view payload = {},
                         std::uint16_t channel = 0) {
    std::string made{"\0\0\0\0\x02\0\0\0", 8};
    core::put_number<2>(made.data() + 6, channel);
    amqp::Encoder{made}.write(amqp::Value::described(code, std::move(fields)));
    made += payload;
    core::put_number<4>(made.data(), made.size());
    return made;
}

/// An engine whose peer is the test, which says and reads frames byte by byte.
struct RawPeer {
    static constexpr std::string_view header{"AMQP\0\1\0\0", 8};

    explicit RawPeer(bool is_server = true,
                     amqp::Open open = {.container = "us", .max_frame_size = 4096})
        : engine{std::make_unique<amqp::Engine>(
              amqp::EngineOptions{.is_server = is_server, .open = std::move(open)}, log)} {}
    ~RawPeer() {
        links.clear();
        session.reset();
        log.sessions.clear();
    }

    void say(std::string_view bytes) {
        engine->input(bytes);
        engine->process();
        read();
    }
    void say(std::uint64_t code, amqp::List fields, std::string_view payload = {},
             std::uint16_t channel = 0) {
        say(frame(code, std::move(fields), payload, channel));
    }
    /// Adds to `seen` what the engine has written.
    void read() {
        std::string bytes;
        engine->take(bytes);
        std::string_view left = bytes;
        while (!left.empty()) {
            if (left.starts_with("AMQP")) {
                headers.emplace_back(left.substr(0, 8));
                left.remove_prefix(8);
                continue;
            }
            REQUIRE(left.size() >= 8);
            const std::size_t size = core::number_at<4>(left.data());
            REQUIRE(size <= left.size());
            SeenFrame one{.channel =
                              static_cast<std::uint16_t>(core::number_at<2>(left.data() + 6)),
                          .size = size};
            amqp::Decoder decoder{left.substr(8, size - 8)};
            if (const auto value = decoder.read()) {
                one.code = *value->described()->descriptor.unsigned_integer();
                one.fields = *value->described()->value.as<amqp::List>();
                one.payload = decoder.rest();
            }
            seen.push_back(std::move(one));
            left.remove_prefix(size);
        }
    }
    /// Takes the first frame of a kind from what was seen.
    SeenFrame next(std::uint64_t code) {
        read();
        for (auto each = seen.begin(); each != seen.end(); ++each) {
            if (each->code == code) {
                SeenFrame found = std::move(*each);
                seen.erase(each);
                return found;
            }
        }
        FAIL("the engine did not write frame " << code);
        return {};
    }
    [[nodiscard]] std::size_t count(std::uint64_t code) {
        read();
        std::size_t found = 0;
        for (const SeenFrame& each : seen) {
            found += each.code == code ? 1 : 0;
        }
        return found;
    }

    void open(amqp::Value max_frame_size = {}, amqp::Value channel_max = {}) {
        say(header);
        say(0x10, {"them", {}, std::move(max_frame_size), std::move(channel_max)});
    }
    /// The peer begins a session.
    SessionLog& begin(std::uint16_t channel = 0, std::uint32_t window = 1000,
                      amqp::Value handle_max = {}) {
        say(0x11, {{}, std::uint32_t{0}, window, std::uint32_t{1000}, std::move(handle_max)}, {},
            channel);
        return *log.sessions.back();
    }
    /// This side begins a session, and the peer answers.
    amqp::Session& begin_ours(std::uint16_t channel = 0, std::uint32_t window = 1000,
                              amqp::Value handle_max = {}) {
        session = engine->begin_session();
        say(0x11,
            {std::uint16_t{0}, std::uint32_t{0}, window, std::uint32_t{1000},
             std::move(handle_max)},
            {}, channel);
        return *session;
    }
    /// The peer attaches, and is answered.
    LinkLog& attach(std::string name, std::uint32_t handle, bool peer_receives,
                    std::uint16_t channel = 0) {
        say(0x12,
            {std::move(name),
             handle,
             peer_receives,
             {},
             {},
             amqp::Value::described(std::uint64_t{0x28}, amqp::List{"from"}),
             amqp::Value::described(std::uint64_t{0x29}, amqp::List{"to"}),
             {},
             {},
             peer_receives ? amqp::Value{} : amqp::Value{std::uint32_t{0}}},
            {}, channel);
        LinkLog& made = *log.sessions.back()->links.back();
        if (made.sender) {
            made.sender->open(made.remote);
        } else {
            made.receiver->open(made.remote);
        }
        read();
        return made;
    }
    /// This side attaches a receiver.
    LinkLog& receive(const std::string& name) {
        LinkLog& made = *links.emplace_back(std::make_unique<LinkLog>());
        made.receiver = session->make_receiver(name);
        REQUIRE(made.receiver);
        made.receiver->set_listener(&made);
        made.receiver->open({.source = {.address = "from"}});
        read();
        return made;
    }
    void flow(std::uint32_t handle, std::uint32_t delivery_count, std::uint32_t credit,
              bool drain = false) {
        say(0x13, {std::uint32_t{0},
                   std::uint32_t{1000},
                   std::uint32_t{0},
                   std::uint32_t{1000},
                   handle,
                   delivery_count,
                   credit,
                   {},
                   drain});
    }
    void transfer(std::uint32_t handle, std::uint32_t id, std::string_view payload,
                  bool more = false) {
        say(0x14, {handle, id, amqp::Value::binary("t" + std::to_string(id)), {}, false, more},
            payload);
    }

    ConnectionLog log{};
    amqp::SessionPtr session{};
    std::vector<std::unique_ptr<LinkLog>> links{};
    std::vector<std::string> headers{};
    std::vector<SeenFrame> seen{};
    std::unique_ptr<amqp::Engine> engine;
};

} // namespace sessionq::test
