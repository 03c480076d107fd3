// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"
#include "amqp/connection_host.hpp"
#include "server/peer_connection.hpp"
#include "support/manual_loop.hpp"
#include "unit/amqp/wire.hpp"

namespace sessionq::test {

/// The server's end of a stream whose other end is the test.
class HeldStream final : public amqp::Stream {
public:
    explicit HeldStream(core::EventLoop& loop) : loop_{loop} {}

    void read() override {
        is_reading_ = true;
        deliver();
    }
    void write(std::string& bytes) override {
        written += bytes;
        ++writes;
        bytes.clear();
        if (!is_clogged_) {
            finish_write();
        }
    }
    void shut() override { is_shut = true; }
    void close() noexcept override { is_closed = true; }
    [[nodiscard]] std::string peer() const override { return "the test"; }

    void feed(std::string_view bytes) {
        arrived_ += bytes;
        deliver();
    }
    void hang_up() {
        hung_up_ = true;
        deliver();
    }
    /// The next write does not end before `unclog`.
    void clog() { is_clogged_ = true; }
    void unclog() {
        is_clogged_ = false;
        finish_write();
    }

    std::string written{};
    int writes{0};
    bool is_shut{false};
    bool is_closed{false};

private:
    void finish_write() {
        loop_.post([self = shared_from_this(), this] {
            if (listener_ != nullptr) {
                listener_->on_written();
            }
        });
    }
    void deliver() {
        loop_.post([self = shared_from_this(), this] {
            if (!is_reading_ || listener_ == nullptr || (arrived_.empty() && !hung_up_)) {
                return;
            }
            is_reading_ = false;
            const std::string bytes = std::exchange(arrived_, {});
            listener_->on_read(bytes);
        });
    }

    core::EventLoop& loop_;
    std::string arrived_{};
    bool is_reading_{false};
    bool hung_up_{false};
    bool is_clogged_{false};
};

/// A server's connection on a broker, with a client's engine at its other end. Time is manual.
struct Front {
    static constexpr const char* key_name = "RootManageSharedAccessKey";

    explicit Front(server::Limits limits = {},
                   amqp::SaslCredentials::Mechanism how = amqp::SaslCredentials::Mechanism::plain,
                   std::shared_ptr<broker::Journal> journal = nullptr)
        : mechanism{how},
          broker{std::move(journal), {}, {}},
          context{.broker = broker,
                  .container = "server",
                  .access = {.keys = {{key_name, "SAS_KEY_VALUE"}}},
                  .limits = limits} {
        make_queue("orders", {.requires_session = true, .lock_duration = std::chrono::seconds{30}});
        make_queue("plain", {.lock_duration = std::chrono::seconds{30}});
        connection = std::make_unique<server::PeerConnection>(context, host, stream,
                                                              [this](server::PeerConnection&) {
                                                                  connection.reset();
                                                                  ++ended;
                                                              });
    }
    ~Front() {
        links.clear();
        session.reset();
    }

    void make_queue(const std::string& name, const broker::QueueOptions& options) {
        REQUIRE(broker.create_queue(name, options, now()).ok());
    }
    [[nodiscard]] broker::Instant now() { return {.now = loop.now(), .wall = loop.wall_now()}; }
    [[nodiscard]] amqp::ClockReading reading() {
        return {.now = loop.now(), .wall = loop.wall_now()};
    }

    /// Moves bytes until neither side has any.
    void run() {
        for (bool moved = true; moved;) {
            moved = loop.run_until_idle() != 0;
            moved |= say();
            if (const std::string answer = std::exchange(stream->written, {}); !answer.empty()) {
                client.input(answer);
                client.process();
                moved = true;
            }
        }
    }

    /// Moves what the client says to where the server reads it next.
    bool say() {
        client.process();
        std::string bytes;
        client.take(bytes);
        if (!bytes.empty()) {
            stream->feed(bytes);
        }
        return !bytes.empty();
    }

    void pass(Duration length) {
        run();
        loop.advance(length);
        broker.advance(now());
        run();
    }

    /// Opens with a password, which grants all rights.
    void enter() {
        run();
        session = client.begin_session();
        run();
    }

    /// Asks for the link. The attach is read together with what is said until `run`.
    LinkLog& ask(const std::string& name, const amqp::Attach& attach) {
        auto& log = *links.emplace_back(std::make_unique<LinkLog>());
        log.receiver = session->make_receiver(name);
        log.receiver->set_listener(&log);
        log.receiver->open(attach);
        return log;
    }
    LinkLog& receive(const std::string& name, const amqp::Attach& attach) {
        LinkLog& log = ask(name, attach);
        run();
        return log;
    }
    LinkLog& receive(const std::string& name, const std::string& address) {
        return receive(name,
                       amqp::Attach{.source = {.address = address}, .target = {.address = name}});
    }
    static amqp::Attach by_session(const std::string& address, amqp::Value id,
                                   std::uint32_t milliseconds = 5000) {
        return {.source = {.address = address,
                           .filter = amqp::encode(amqp::Value::map(
                               {{amqp::Value::symbol("com.microsoft:session-filter"),
                                 std::move(id)}}))},
                .target = {.address = "me"},
                .sender_mode = amqp::SenderSettleMode::unsettled,
                .receiver_mode = amqp::ReceiverSettleMode::second,
                .properties = amqp::encode(amqp::Value::map(
                    {{amqp::Value::symbol("com.microsoft:timeout"), milliseconds}}))};
    }
    LinkLog& send(const std::string& name, const std::string& address) {
        auto& log = *links.emplace_back(std::make_unique<LinkLog>());
        log.sender = session->make_sender(name);
        log.sender->set_listener(&log);
        log.sender->open({.source = {.address = name}, .target = {.address = address}});
        run();
        return log;
    }

    /// A flow of the session, written by hand: the client's engine keeps the window open. With a
    /// credit it is the first link's, whose credit the engine would only raise.
    void flow(std::uint32_t window, std::optional<std::uint32_t> credit = {}) {
        amqp::List fields{amqp::Value{}, window, std::uint32_t{0}, std::uint32_t{1000}};
        if (credit) {
            fields.insert(fields.end(), {std::uint32_t{0}, std::uint32_t{0}, *credit});
        }
        say_flow(std::move(fields));
    }
    /// The same for a link that has got nothing yet: drains its credit. `came` messages have come
    /// on the session, and its window stays closed.
    void drain(std::uint32_t handle, std::uint32_t credit, std::uint32_t came) {
        say_flow({came, std::uint32_t{0}, std::uint32_t{0}, std::uint32_t{1000}, handle,
                  std::uint32_t{0}, credit, amqp::Value{}, true});
    }
    void say_flow(amqp::List fields) {
        const std::string flow =
            amqp::encode(amqp::Value::described(std::uint64_t{0x13}, std::move(fields)));
        const std::string header{'\0', '\0', '\0', static_cast<char>(8 + flow.size()),
                                 '\2', '\0', '\0', '\0'};
        stream->feed(header + flow);
        run();
    }

    /// Sends directly to the broker.
    void put(const std::string& queue, std::vector<Message> messages) {
        REQUIRE(broker.find(queue).value()->send(std::move(messages), now()).ok());
        run();
    }
    [[nodiscard]] broker::QueueCounts counts(const std::string& queue) {
        return broker.find(queue).value()->counts(now());
    }

    /// What a response link received: the status, then the rest.
    struct Reply {
        std::int64_t status{0};
        std::string condition{};
        std::string description{};
        amqp::Value correlation{};
        amqp::Value body{};
    };
    static Reply read_reply(const std::string& encoded) {
        const auto sections = amqp::MessageSections::find(encoded);
        REQUIRE(sections);
        Reply reply;
        const auto property = [&](const char* name) {
            const auto found = amqp::find_entry(sections->application_properties, name);
            return found.empty() ? amqp::Value{} : amqp::decode(found).value();
        };
        amqp::Value status = property("statusCode");
        if (status.is_null()) {
            status = property("status-code");
        }
        REQUIRE(status.held().index() == amqp::Value{std::int32_t{0}}.held().index());
        reply.status = status.integer().value_or(0);
        const amqp::Value condition = property("errorCondition");
        reply.condition = condition.text().value_or("");
        const amqp::Value description = property("statusDescription");
        reply.description = description.text().value_or("");
        reply.correlation = amqp::MessageProperties::read(sections->properties)
                                ->value(amqp::MessageProperties::correlation_id)
                                .value_or(amqp::Value{});
        amqp::Decoder decoder{sections->body};
        REQUIRE(decoder.read_descriptor() == amqp::section::value);
        reply.body = decoder.read().value();
        return reply;
    }
    static std::string request(const amqp::Value& id, const amqp::Value& reply_to,
                               amqp::Value properties, const amqp::Value& body) {
        std::string encoded;
        amqp::Encoder encoder{encoded};
        encoder.write_descriptor(amqp::section::properties);
        encoder.write(amqp::List{id, amqp::Value{}, amqp::Value{}, amqp::Value{}, reply_to});
        encoder.write_descriptor(amqp::section::application_properties);
        encoder.write(properties);
        encoder.write_descriptor(amqp::section::value);
        encoder.write(body);
        return encoded;
    }

    const amqp::SaslCredentials::Mechanism mechanism;
    // The logs hold links and sessions, so they are destroyed before the engine.
    ManualLoop loop{};
    asio::io_context io{};
    broker::Broker broker;
    server::ServerContext context;
    amqp::ConnectionHost host{loop, io};
    std::shared_ptr<HeldStream> stream{std::make_shared<HeldStream>(loop)};
    std::unique_ptr<server::PeerConnection> connection{};
    int ended{0};
    ConnectionLog seen{};
    amqp::Engine client{
        {.open = {.container = "client", .hostname = "host", .max_frame_size = 65536},
         .sasl = amqp::make_sasl_client(
             {.mechanism = mechanism, .user = key_name, .password = "SAS_KEY_VALUE"})},
        seen};
    amqp::SessionPtr session{};
    std::vector<std::unique_ptr<LinkLog>> links{};
};

} // namespace sessionq::test
