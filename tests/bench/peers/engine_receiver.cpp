// SPDX-License-Identifier: MIT
// The lower limit of what a client on our engine takes: SESSIONS receivers on one connection and
// one thread, which only accept messages, as proton_receiver does. With `decode` they also make of
// each message what a handler gets.
//   engine_receiver PORT ENTITY SESSIONS MESSAGES [decode]
// Prints the seconds from the first message to the last accepted one.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sessionq/received_message.hpp>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/connection.hpp"
#include "amqp/connector.hpp"
#include "client/receive_thread.hpp"
#include "servicebus/session_attach.hpp"

namespace {

using namespace sessionq;
using Clock = std::chrono::steady_clock;
constexpr std::uint32_t credit = 200;

struct Run {
    std::string entity;
    int sessions;
    long messages;
    bool decodes;

    long received{0};
    Clock::time_point first{};
};

[[noreturn]] void end(int code, const char* complaint) {
    std::fputs(complaint, stderr);
    std::fflush(stdout);
    std::_Exit(code);
}

/// A session's link.
class Receiving final : public amqp::LinkListener {
public:
    Receiving(Run& run, amqp::Session& session, const std::string& name)
        : run_{run}, link_{session.make_receiver(name)} {
        link_->set_listener(this);
        link_->open(
            servicebus::to_attach({.entity = run.entity, .wait = std::chrono::seconds{10}}, name));
        link_->add_credit(credit);
    }

    void on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) override {
        if (run_.received++ == 0) {
            run_.first = Clock::now();
        }
        if (run_.decodes) {
            auto received = amqp::decode_delivery(encoded, {}).take_or_throw();
            const auto made = std::make_unique<ReceivedMessage>(std::move(received.content),
                                                                std::move(received.facts));
            bytes_ += made->body().size();
        }
        delivery.update({.kind = amqp::OutcomeKind::accepted});
        delivery.settle();
        if (link_->credit() <= credit / 2) {
            link_->add_credit(credit - link_->credit());
        }
        if (run_.received == run_.messages) {
            std::printf("%.6f\n", std::chrono::duration<double>(Clock::now() - run_.first).count());
            end(0, "");
        }
    }
    void on_link_closed(const amqp::Condition&, bool) override {
        end(1, "engine_receiver: the broker closed a link\n");
    }
    void on_link_gone(const amqp::Condition&) override {}
    void on_disposition(amqp::DeliveryHandle) override {}

private:
    Run& run_;
    amqp::ReceiverLinkPtr link_;
    std::size_t bytes_{0};
};

class Client final : public amqp::ConnectionOwner {
public:
    Client(Run& run, amqp::ConnectionHost& host, amqp::StreamPtr stream) : run_{run} {
        amqp::ConnectionOptions options;
        options.engine.open = {
            .container = "engine_receiver", .hostname = "127.0.0.1", .max_frame_size = 65536};
        options.engine.sasl =
            amqp::make_sasl_client({.mechanism = amqp::SaslCredentials::Mechanism::plain,
                                    .user = "RootManageSharedAccessKey",
                                    .password = "SAS_KEY_VALUE"});
        connection_ =
            std::make_unique<amqp::Connection>(host, std::move(stream), std::move(options), *this);
    }

    void on_open(const amqp::Open&) override {
        for (int i = 0; i < run_.sessions; ++i) {
            sessions_.push_back(connection_->engine().begin_session());
            links_.push_back(
                std::make_unique<Receiving>(run_, *sessions_.back(), "r" + std::to_string(i)));
        }
    }
    void on_closed(const amqp::Condition&) override {
        end(1, "engine_receiver: the broker closed the connection\n");
    }

private:
    Run& run_;
    std::unique_ptr<amqp::Connection> connection_{};
    std::vector<amqp::SessionPtr> sessions_{};
    std::vector<std::unique_ptr<Receiving>> links_{};
};

} // namespace

int main(int count, char** arguments) {
    if (count != 5 && count != 6) {
        std::fputs("usage: engine_receiver PORT ENTITY SESSIONS MESSAGES [decode]\n", stderr);
        return 2;
    }
    Run run{.entity = arguments[2],
            .sessions = std::atoi(arguments[3]),
            .messages = std::atol(arguments[4]),
            .decodes = count == 6};
    const auto port = static_cast<std::uint16_t>(std::atoi(arguments[1]));
    client::ReceiveThread thread;
    std::unique_ptr<amqp::ConnectionHost> host;
    std::unique_ptr<amqp::Connector> connector;
    std::unique_ptr<Client> client;
    thread.post([&] {
        host = std::make_unique<amqp::ConnectionHost>(thread, thread.io_context());
        connector = std::make_unique<amqp::Connector>(
            *host, amqp::Target{.host = "127.0.0.1", .port = port},
            thread.now() + std::chrono::seconds{10}, [&](core::Result<amqp::StreamPtr> stream) {
                client = std::make_unique<Client>(run, *host, std::move(stream).take_or_throw());
            });
    });
    std::this_thread::sleep_for(std::chrono::minutes{2});
    end(1, "engine_receiver: did not finish\n");
}
