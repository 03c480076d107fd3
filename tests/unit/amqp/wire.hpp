// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "amqp/engine/engine.hpp"

namespace sessionq::test {

/// A link's owner that records events.
struct LinkLog final : amqp::LinkListener {
    void on_link_open() override {
        opened = true;
        remote = receiver ? receiver->remote() : sender->remote();
    }
    void on_link_closed(const amqp::Condition& condition, bool is_closed) override {
        closed = true;
        closed_for_good = is_closed;
        why = condition;
    }
    void on_link_gone(const amqp::Condition& condition) override {
        gone = true;
        why = condition;
    }
    void on_flow() override { ++flows; }
    void on_drained() override { ++drained; }
    void on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) override {
        messages.emplace_back(encoded);
        tags.emplace_back(delivery.tag());
        formats.push_back(delivery.message_format());
        if (delivery.remote_settled()) {
            delivery.settle();
        } else {
            deliveries.push_back(delivery);
        }
    }
    bool on_message_too_large() override { return outlives_large; }
    void on_disposition(amqp::DeliveryHandle delivery) override {
        outcomes.push_back(delivery.remote_outcome());
        settled.push_back(delivery.remote_settled());
        if (delivery.remote_settled() && settles) {
            delivery.settle();
        }
    }

    amqp::SenderLinkPtr sender{};
    amqp::ReceiverLinkPtr receiver{};
    bool opened{false};
    amqp::Attach remote{}; // as it was when the link opened or came
    bool closed{false};
    bool closed_for_good{false};
    bool gone{false};
    bool settles{true};
    bool outlives_large{false};
    int flows{0};
    int drained{0};
    amqp::Condition why{};
    std::vector<std::string> messages{};
    std::vector<std::string> tags{};
    std::vector<std::uint32_t> formats{};
    std::vector<amqp::DeliveryHandle> deliveries{};
    std::vector<amqp::Outcome> outcomes{};
    std::vector<bool> settled{};
};

/// The peer's side of a session. Accepts every link and lets the test answer.
struct SessionLog final : amqp::SessionListener {
    void on_sender(amqp::SenderLinkPtr link) override {
        auto& log = *links.emplace_back(std::make_unique<LinkLog>());
        link->set_listener(&log);
        log.remote = link->remote();
        log.sender = std::move(link);
    }
    void on_receiver(amqp::ReceiverLinkPtr link) override {
        auto& log = *links.emplace_back(std::make_unique<LinkLog>());
        link->set_listener(&log);
        log.remote = link->remote();
        log.receiver = std::move(link);
    }
    void on_session_ended(const amqp::Condition& condition) override {
        ended = true;
        why = condition;
    }

    ~SessionLog() override {
        links.clear();
        session.reset();
    }

    amqp::SessionPtr session{};
    std::vector<std::unique_ptr<LinkLog>> links{};
    bool ended{false};
    amqp::Condition why{};
};

struct ConnectionLog final : amqp::ConnectionListener {
    void on_open(const amqp::Open& open) override { peer = std::make_unique<amqp::Open>(open); }
    void on_session(amqp::SessionPtr session) override {
        auto& log = *sessions.emplace_back(std::make_unique<SessionLog>());
        session->set_listener(&log);
        log.session = std::move(session);
    }
    void on_closed(const amqp::Condition& condition) override {
        ++closed;
        why = condition;
    }

    std::unique_ptr<amqp::Open> peer{};
    std::vector<std::unique_ptr<SessionLog>> sessions{};
    int closed{0};
    amqp::Condition why{};
};

/// A client's and a server's engine, and the bytes between them.
struct Wire {
    explicit Wire(amqp::SaslCredentials credentials = {}, amqp::PlainCheck check = {},
                  std::uint32_t frame_size = 65536, std::uint16_t channel_max = 65535)
        : client{{.open = {.container = "client",
                           .hostname = "host",
                           .idle_time_out = 60000,
                           .max_frame_size = frame_size},
                  .sasl = amqp::make_sasl_client(std::move(credentials))},
                 client_log},
          server{{.is_server = true,
                  .open = {.container = "server",
                           .idle_time_out = 30000,
                           .max_frame_size = frame_size,
                           .channel_max = channel_max},
                  .sasl = amqp::make_sasl_server(std::move(check))},
                 server_log} {}

    /// Moves bytes, `step` at a time (zero: all at once), until neither side has any.
    void run(std::size_t step = 0) {
        for (bool moved = true; moved;) {
            moved = carry(client, server, step, to_server);
            moved = carry(server, client, step, to_client) || moved;
        }
    }

    static bool carry(amqp::Engine& from, amqp::Engine& to, std::size_t step, std::string& seen) {
        from.process();
        std::string bytes;
        from.take(bytes);
        seen += bytes;
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t count = step == 0 ? bytes.size() : std::min(step, bytes.size() - at);
            to.input(std::string_view{bytes}.substr(at, count));
            to.process();
            at += count;
        }
        return !bytes.empty();
    }

    std::string to_server{};
    std::string to_client{};
    // The logs hold links and sessions, so they are destroyed before the engines.
    ConnectionLog client_log{};
    ConnectionLog server_log{};
    amqp::Engine client;
    amqp::Engine server;
};

} // namespace sessionq::test
