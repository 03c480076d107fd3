// SPDX-License-Identifier: MIT
#include "tools/sessionq/doctor_connection.hpp"

#include <utility>

#include "servicebus/authorizer.hpp"

namespace sessionq::cli {

DoctorConnection::DoctorConnection(core::EventLoop& loop, asio::io_context& io,
                                   amqp::ClientConnectionOptions options, ExplainCondition how)
    : loop_{loop}, explain_{how}, host_{loop, io}, connection_{host_, std::move(options), *this} {}

DoctorConnection::~DoctorConnection() {
    trial_.reset();
    cbs_.reset();
    connection_.close();
}

void DoctorConnection::open(Handler<amqp::Open> done) {
    connection_.when_open(
        [this, done = std::move(done)](const core::Result<amqp::Engine*>& engine) {
            if (engine.ok()) {
                done(peer_);
            } else {
                done(engine.failure());
            }
        });
}

void DoctorConnection::make_token(detail::servicebus::TokenSource& tokens,
                                  const std::string& audience,
                                  Handler<detail::servicebus::Token> done) {
    tokens.ask(audience, loop_.wall_now(), Deadline::never(), std::move(done));
}

void DoctorConnection::claim(const std::string& audience, const detail::servicebus::Token& token,
                             Duration timeout, Handler<core::Done> done) {
    cbs_ = std::make_unique<detail::servicebus::RequestChannel>(
        loop_, "$cbs", [this](detail::servicebus::RequestChannel::EngineHandler ready) {
            connection_.when_open(std::move(ready));
        });
    cbs_->request(
        1, detail::servicebus::put_token(audience, token), Deadline::after(timeout, loop_.now()),
        [done = std::move(done)](const core::Result<detail::servicebus::Response>& answer) {
            if (!answer.ok()) {
                done(answer.failure());
            } else if (!answer.value().is_success()) {
                done(answer.value().to_failure("the token was rejected"));
            } else {
                done(core::Done{});
            }
        });
}

void DoctorConnection::attach(const LinkWish& wish, Handler<LinkAnswer> done) {
    connection_.when_open(
        [this, wish, done = std::move(done)](const core::Result<amqp::Engine*>& engine) {
            if (engine.ok()) {
                trial_ = std::make_unique<LinkTrial>(*engine.value(), wish, explain_, done);
            } else {
                done(engine.failure());
            }
        });
}

std::optional<Failure> DoctorConnection::on_connected(const amqp::Open& peer) {
    peer_ = peer;
    return std::nullopt;
}

Failure DoctorConnection::explain(const amqp::Condition& condition, std::string what) {
    return explain_(condition, std::move(what));
}

} // namespace sessionq::cli
