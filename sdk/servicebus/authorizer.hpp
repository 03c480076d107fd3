// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "servicebus/endpoint_settings.hpp"
#include "servicebus/request_channel.hpp"
#include "servicebus/token_book.hpp"

namespace sessionq::detail::servicebus {

/// The request that sends a token to $cbs.
[[nodiscard]] Request put_token(std::string audience, Token token);

/// Sends tokens to $cbs as a `TokenBook` decides, for the nodes that are used on one connection.
/// Bound to the loop. Not to be destroyed from its handlers.
class Authorizer {
public:
    using EngineHandler = RequestChannel::EngineHandler;

    Authorizer(core::EventLoop& loop, const EndpointSettings& settings);
    ~Authorizer();
    Authorizer(const Authorizer&) = delete;
    Authorizer& operator=(const Authorizer&) = delete;

    /// Runs the handler once `node` may be used on `engine`, now or by a later turn.
    void when_granted(const std::string& node, amqp::Engine& engine, EngineHandler handler);
    /// The broker rejected a use of the node.
    void rejected(const std::string& node) { book_.rejected(node); }
    /// The connection ended.
    void reset(const Failure& why);

private:
    void proceed();
    void ask(const TokenBook::Order& order);
    void put(const TokenBook::Order& order, Token token);
    void granted(const TokenBook::Order& order, Duration life);
    void failed(const TokenBook::Order& order, const Failure& why);
    [[nodiscard]] std::string audience(const std::string& node) const;

    core::EventLoop& loop_;
    const std::string host_;
    const TokenSourcePtr tokens_;
    TokenBook book_;
    amqp::Engine* engine_{nullptr};
    std::unique_ptr<RequestChannel> cbs_{};
    timing::Timer timer_{timing::Timer::calling<&Authorizer::proceed>(this)};
    const core::Anchor<Authorizer> anchor_{*this};
};

} // namespace sessionq::detail::servicebus
