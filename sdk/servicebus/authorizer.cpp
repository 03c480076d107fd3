// SPDX-License-Identifier: MIT
#include "servicebus/authorizer.hpp"

#include <algorithm>
#include <utility>

#include "core/log.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::detail::servicebus {
namespace {

/// A broker that finds no entity for a token says nothing against the token.
Failure refusal(const std::string& node, const Response& answer) {
    Failure why = answer.to_failure("the token for '" + node + "' was rejected");
    if (why.code == Errc::entity_not_found) {
        why.detail = "'" + node.substr(0, node.rfind("/$management")) + "'";
    }
    return why;
}

} // namespace

Request put_token(std::string audience, Token token) {
    return {.operation = "put-token",
            .properties = {{"name", std::move(audience)},
                           {"type", std::move(token.type)},
                           {"expiration", amqp::Timestamp::of(token.expires)}},
            .body = std::move(token.text)};
}

Authorizer::Authorizer(core::EventLoop& loop, const EndpointSettings& settings)
    : loop_{loop},
      host_{settings.target.host},
      tokens_{settings.tokens},
      book_{settings.operation_timeout, settings.seed} {}

Authorizer::~Authorizer() { reset({.code = Errc::cancelled, .detail = "the client is closed"}); }

void Authorizer::when_granted(const std::string& node, amqp::Engine& engine,
                              EngineHandler handler) {
    if (tokens_ == nullptr || node.empty() || book_.is_granted(node, loop_.now())) {
        handler(&engine);
        return;
    }
    engine_ = &engine;
    book_.wait(node, [this, handler = std::move(handler)](const Failure* why) {
        if (why != nullptr) {
            handler(*why);
        } else if (engine_->is_open()) {
            handler(engine_);
        } else {
            handler(Failure{.code = Errc::connection_lost});
        }
    });
    proceed();
}

void Authorizer::reset(const Failure& why) {
    loop_.timers().cancel(timer_);
    engine_ = nullptr;
    const auto waiters = book_.clear();
    cbs_.reset(); // its answers do not count any more
    for (const auto& waiter : waiters) {
        waiter(&why);
    }
}

void Authorizer::proceed() {
    const TimePoint now = loop_.now();
    for (const TokenBook::Order& late : book_.overdue(now)) {
        failed(late, Failure{.code = Errc::timeout, .detail = "no token for '" + late.node + "'"});
    }
    for (const TokenBook::Order& order : book_.take_orders(now)) {
        ask(order);
    }
    loop_.timers().set_due(timer_, book_.next());
}

void Authorizer::ask(const TokenBook::Order& order) {
    tokens_->ask(audience(order.node), loop_.wall_now(), order.deadline,
                 [handle = anchor_.handle(), order](core::Result<Token> token) {
                     Authorizer* const self = handle.get();
                     if (self == nullptr || !self->book_.is_current(order)) {
                         return;
                     }
                     if (token.ok()) {
                         self->put(order, std::move(token).value());
                     } else {
                         self->failed(order, token.failure());
                     }
                 });
}

void Authorizer::put(const TokenBook::Order& order, Token token) {
    if (cbs_ == nullptr) {
        cbs_ = std::make_unique<RequestChannel>(
            loop_, "$cbs",
            [this](const RequestChannel::EngineHandler& handler) { handler(engine_); });
    }
    const auto life = std::chrono::duration_cast<Duration>(
        std::min<WallTime::duration>(token.expires - loop_.wall_now(), std::chrono::hours{24}));
    cbs_->request(order.attempt, put_token(audience(order.node), std::move(token)), order.deadline,
                  [this, order, life](const core::Result<Response>& answer) {
                      if (!answer.ok()) {
                          failed(order, answer.failure());
                      } else if (!answer.value().is_success()) {
                          failed(order, refusal(order.node, answer.value()));
                      } else {
                          granted(order, life);
                      }
                  });
}

void Authorizer::granted(const TokenBook::Order& order, Duration life) {
    const auto waiters = book_.granted(order, loop_.now(), life);
    proceed();
    for (const auto& waiter : waiters) {
        waiter(nullptr);
    }
}

void Authorizer::failed(const TokenBook::Order& order, const Failure& why) {
    const TimePoint now = loop_.now();
    if (book_.is_current(order) && book_.is_granted(order.node, now)) { // nobody waits for it
        core::log(LogLevel::warning, "servicebus", "a token was not renewed: " + why.to_string());
    }
    const auto waiters = book_.failed(order, now);
    loop_.timers().set_due(timer_, book_.next());
    for (const auto& waiter : waiters) {
        waiter(&why);
    }
}

std::string Authorizer::audience(const std::string& node) const {
    return "sb://" + host_ + "/" + node;
}

} // namespace sessionq::detail::servicebus
