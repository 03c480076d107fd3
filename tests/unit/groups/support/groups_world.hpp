// SPDX-License-Identifier: MIT
#pragma once

// An endpoint and a broker played beside it, on one loop whose time moves when the test says so.
// Their bytes go over loopback, and waits for them are bounded.
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include "amqp/acceptor.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"
#include "contract/recording_link.hpp"
#include "groups/endpoint.hpp"
#include "support/manual_loop.hpp"

namespace sessionq::test::groups_world {

using namespace sessionq::amqp;
using namespace std::chrono_literals;

/// A broker with one queue: gives what it is told to give to the link attached last, and counts
/// links.
class Broker final : ConnectionOwner, SessionListener, LinkListener {
public:
    Broker(core::EventLoop& loop, asio::io_context& io, std::string product)
        : host_{loop, io}, acceptor_{host_, admission_, [this, product](StreamPtr stream) {
                                         ConnectionOptions options;
                                         options.engine = {
                                             .is_server = true,
                                             .open = {.container = "broker",
                                                      .properties = encode(Value::map(
                                                          {{Value::symbol("product"),
                                                            std::string_view{product}}})),
                                                      .max_frame_size = 65536},
                                             .sasl = make_sasl_server({})};
                                         ConnectionOwner& owner = *this;
                                         connection_ = std::make_unique<Connection>(
                                             host_, std::move(stream), std::move(options), owner);
                                     }} {
        port = acceptor_.listen({.port = 0}).value();
    }
    ~Broker() override {
        links_.clear();
        sessions_.clear();
        connection_.reset();
    }
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    void give(std::string_view group, std::string_view body, bool is_marked_first) {
        Message message = Message::of(body).in_session(group);
        message.message_id = body;
        if (is_marked_first) {
            message.properties.emplace("JMSXGroupFirstForConsumer", true);
        }
        give_encoded(encode_message(message, {}));
    }
    void give_encoded(std::string encoded) {
        queue_.emplace(++last_tag_, std::move(encoded));
        on_flow();
    }

    std::uint16_t port{0};
    int attached{0};
    int detached{0};
    int accepted{0};
    int rejected{0};
    int failed{0};      // and back in the queue
    int released{0};    // and back in the queue
    bool answers{true}; // to outcomes
    bool answers_drains{true};
    bool opens_links{true};

    /// The connection breaks.
    void cut() {
        links_.clear();
        sessions_.clear();
        connection_.reset();
    }

private:
    void on_open(const Open&) override {}
    void on_session(SessionPtr made) override {
        made->set_listener(this);
        sessions_.push_back(std::move(made));
    }
    void on_closed(const Condition&) override {}
    void on_sender(SenderLinkPtr link) override {
        ++attached;
        link->set_listener(this);
        if (opens_links) {
            link->open(link->remote());
        }
        links_.push_back(std::move(link));
    }
    void on_receiver(ReceiverLinkPtr link) override { link->refuse({.name = "amqp:not-allowed"}); }
    void on_session_ended(const Condition&) override {}
    void on_link_closed(const Condition&, bool) override {
        ++detached;
        links_.back()->close();
    }
    void on_link_gone(const Condition&) override {}
    void on_flow() override {
        if (links_.empty() || links_.back()->is_gone()) {
            return;
        }
        SenderLink& link = *links_.back();
        while (!queue_.empty() && link.credit() != 0) {
            const auto sent = queue_.extract(queue_.begin());
            link.send(std::to_string(sent.key()), sent.mapped(), false);
            sent_[sent.key()] = sent.mapped();
        }
        if (link.is_draining() && answers_drains) {
            link.drained();
        }
    }
    void on_disposition(DeliveryHandle delivery) override {
        const int tag = std::stoi(std::string{delivery.tag()});
        const OutcomeKind kind = delivery.remote_kind();
        accepted += kind == OutcomeKind::accepted ? 1 : 0;
        rejected += kind == OutcomeKind::rejected ? 1 : 0;
        failed += kind == OutcomeKind::modified ? 1 : 0;
        released += kind == OutcomeKind::released ? 1 : 0;
        if (kind == OutcomeKind::modified || kind == OutcomeKind::released) {
            queue_.emplace(tag, sent_.at(tag));
        }
        if (answers) {
            delivery.settle();
        }
        on_flow();
    }

    ConnectionHost host_;
    Admission admission_{};
    Acceptor acceptor_;
    std::unique_ptr<Connection> connection_{};
    std::vector<SessionPtr> sessions_{};
    std::vector<SenderLinkPtr> links_{};
    std::map<int, std::string> queue_{}; // by tag, so what comes back has its place
    std::map<int, std::string> sent_{};
    int last_tag_{0};
};

struct World {
    explicit World(std::string product = "apache-activemq-artemis")
        : broker{loop, io, std::move(product)} {}

    /// Until it is so; in the world's time, and the test's stands still.
    bool until(const std::function<bool()>& done) {
        const auto hopeless = std::chrono::steady_clock::now() + 20s;
        while (!done() && std::chrono::steady_clock::now() < hopeless) {
            loop.run_until_idle();
            io.restart();
            io.run_one_for(1ms);
        }
        return done();
    }
    ports::RequestId accept() { return accept({.entity = "queue", .wait = 24h}); }
    ports::RequestId accept(ports::AcceptRequest request) {
        return endpoint->accept(
            std::move(request), [this](core::Result<ports::SessionLinkPtr> answer) {
                if (answer.ok()) {
                    sessions.push_back(
                        std::make_unique<test::RecordingLink>(std::move(answer).value()));
                    sessions.back()->credit(10);
                } else {
                    refused.push_back(answer.failure().code);
                    if (on_refused) {
                        on_refused();
                    }
                }
            });
    }
    /// Waits for the answer to an accept, and for so many messages.
    test::RecordingLink& session_with(std::size_t messages) {
        REQUIRE(
            until([&] { return !sessions.empty() && sessions.back()->got.size() == messages; }));
        return *sessions.back();
    }
    /// Gives a message to who waits for a session, and completes it there.
    test::RecordingLink& handle(std::string_view group, std::string_view body,
                                bool is_marked_first) {
        const std::size_t before = sessions.size();
        broker.give(group, body, is_marked_first);
        REQUIRE(
            until([&] { return sessions.size() > before && sessions.back()->got.size() == 1; }));
        test::RecordingLink& session = *sessions.back();
        session.settle(*session.got.front(), ports::Outcome::complete);
        REQUIRE(until([&] { return session.settled.size() == 1; }));
        return session;
    }
    void leave(test::RecordingLink& session) {
        session.close();
        REQUIRE(until([&] { return session.closed; }));
    }

    test::ManualLoop loop{};
    asio::io_context io{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard{io.get_executor()};
    Broker broker;
    std::vector<Errc> refused{}; // the endpoint's end answers accepts
    std::function<void()> on_refused{};
    std::optional<groups::Endpoint> endpoint{
        std::in_place, loop, io,
        groups::EndpointSettings{
            .url = groups::ConnectionUrl::parse("amqp://127.0.0.1:" + std::to_string(broker.port))
                       .value(),
            .idle_timeout = 24h}};
    std::vector<std::unique_ptr<test::RecordingLink>> sessions{};
};

} // namespace sessionq::test::groups_world
