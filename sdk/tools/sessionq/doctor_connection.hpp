// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "amqp/client_connection.hpp"
#include "servicebus/request_channel.hpp"
#include "servicebus/token_source.hpp"
#include "tools/sessionq/doctor_link.hpp"

namespace sessionq::cli {

/// A broker's connection, for questions over it: one at a time. Each handler runs at most once, on
/// the loop, within the call or later. Bound to the loop. Not to be destroyed from its handlers.
class DoctorConnection final : private amqp::ClientConnectionEvents {
public:
    template <typename T>
    using Handler = std::function<void(core::Result<T>)>;

    DoctorConnection(core::EventLoop& loop, asio::io_context& io,
                     amqp::ClientConnectionOptions options, ExplainCondition how);
    ~DoctorConnection() override;
    DoctorConnection(const DoctorConnection&) = delete;
    DoctorConnection& operator=(const DoctorConnection&) = delete;

    void open(Handler<amqp::Open> done);
    void make_token(detail::servicebus::TokenSource& tokens, const std::string& audience,
                    Handler<detail::servicebus::Token> done);
    void claim(const std::string& audience, const detail::servicebus::Token& token,
               Duration timeout, Handler<core::Done> done);
    /// The link stays until `drop_link`.
    void attach(const LinkWish& wish, Handler<LinkAnswer> done);
    void drop_link() { trial_.reset(); }

private:
    [[nodiscard]] std::optional<Failure> on_connected(const amqp::Open& peer) override;
    void on_disconnected(const Failure& /*why*/) override {} // links and requests are told
    [[nodiscard]] Failure explain(const amqp::Condition& condition, std::string what) override;

    core::EventLoop& loop_;
    const ExplainCondition explain_;
    amqp::Open peer_{};
    amqp::ConnectionHost host_;
    amqp::ClientConnection connection_;
    std::unique_ptr<detail::servicebus::RequestChannel> cbs_{};
    std::unique_ptr<LinkTrial> trial_{};
};

} // namespace sessionq::cli
