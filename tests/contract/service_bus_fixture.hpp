// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <asio/io_context.hpp>

#include "broker/broker.hpp"
#include "contract/port_fixture.hpp"
#include "server/server.hpp"
#include "servicebus/endpoint.hpp"
#include "support/manual_loop.hpp"
#include "support/test_certificates.hpp"

namespace sessionq::test {

/// The local broker's AMQP server over a real socket on loopback. Time is manual on both sides.
class ServiceBusFixture : public PortFixture {
public:
    ServiceBusFixture() : ServiceBusFixture{nullptr, nullptr} {}
    ~ServiceBusFixture() override {
        server_.reset();
        quiet();
    }

    std::string create_entity(const EntitySpec& spec) override {
        const std::string name = "queue" + std::to_string(++entities_);
        static_cast<void>(
            broker_
                .create_queue(name,
                              {.requires_session = spec.requires_session,
                               .lock_duration = spec.lock_duration,
                               .max_delivery_count = spec.max_delivery_count,
                               .dead_letter_on_expiration = spec.dead_letter_on_expiration},
                              now())
                .value());
        return name;
    }
    [[nodiscard]] bool tells_sequence_numbers() const override { return false; }
    [[nodiscard]] std::string dead_letters_of(const std::string& entity) const override {
        return entity + "/$DeadLetterQueue";
    }

    [[nodiscard]] std::unique_ptr<ports::Endpoint> make_endpoint() override {
        detail::servicebus::EndpointSettings settings;
        settings.target = {.host = "127.0.0.1", .port = port_, .tls = client_tls_};
        settings.tokens =
            detail::servicebus::make_key_tokens("RootManageSharedAccessKey", "SAS_KEY_VALUE");
        return std::make_unique<detail::servicebus::Endpoint>(loop_, io_, std::move(settings));
    }
    [[nodiscard]] core::EventLoop& loop() override { return loop_; }

    [[nodiscard]] broker::Broker& broker() { return broker_; }
    [[nodiscard]] broker::Instant now() const { return {loop_.now(), loop_.wall_now()}; }

    bool eventually(const std::function<bool()>& done) override {
        const auto hopeless = std::chrono::steady_clock::now() + 5s;
        while (!done() && std::chrono::steady_clock::now() < hopeless) {
            if (!turn(1ms)) { // the case may wait for time to pass
                move_on(1ms);
            }
        }
        return done();
    }
    void quiet() override {
        for (int still = 0; still < 5;) {
            still = turn(1ms) ? 0 : still + 1;
        }
    }
    void pass(Duration length) override {
        quiet();
        const TimePoint end = loop_.now() + length;
        for (auto due = next_due(); due && *due <= end; due = next_due()) {
            move_to(*due);
        }
        move_to(end);
    }

protected:
    /// Null: without TLS.
    ServiceBusFixture(const amqp::TlsContextPtr& server_tls, amqp::TlsContextPtr client_tls)
        : client_tls_{std::move(client_tls)} {
        const auto port = server_->listen({.port = 0, .tls = server_tls});
        port_ = port.value();
    }

private:
    /// Runs one task. Returns false if none came within `wait`.
    bool turn(std::chrono::milliseconds wait) {
        if (loop_.turn()) {
            return true;
        }
        io_.restart();
        return io_.run_one_for(wait) != 0;
    }
    std::optional<TimePoint> next_due() {
        auto due = broker_.next_wakeup();
        const auto timer = loop_.timers().next_wakeup();
        if (timer && (!due || *timer < *due)) {
            due = timer;
        }
        return due;
    }
    void move_on(Duration length) {
        loop_.advance(length);
        broker_.advance(now());
    }
    void move_to(TimePoint instant) {
        loop_.advance_to(std::max(instant, loop_.now()));
        broker_.advance(now());
        quiet();
    }
    ManualLoop loop_{};
    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard_{io_.get_executor()};
    broker::Broker broker_{};
    std::unique_ptr<server::Server> server_{std::make_unique<server::Server>(
        broker_, loop_, io_,
        server::AccessPolicy{.keys = {{"RootManageSharedAccessKey", "SAS_KEY_VALUE"}}})};
    const amqp::TlsContextPtr client_tls_;
    std::uint16_t port_{0};
    int entities_{0};
};

/// The same over TLS. The client trusts one authority and checks the host name.
class TlsServiceBusFixture final : public ServiceBusFixture {
public:
    TlsServiceBusFixture()
        : ServiceBusFixture{
              amqp::make_tls(amqp::TlsServerSettings{.certificate_file = certificates().server(),
                                                     .key_file = certificates().server_key()})
                  .value(),
              amqp::make_tls(amqp::TlsClientSettings{.ca_file = certificates().ca()}).value()} {}

private:
    static const TestCertificates& certificates() {
        static const TestCertificates made;
        return made;
    }
};

} // namespace sessionq::test
