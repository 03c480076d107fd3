#pragma once

#include <memory>
#include <utility>

#include <sessionq/browser.hpp>
#include <sessionq/client.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_context.hpp>
#include <sessionq/session_message.hpp>
#include <sessionq/session_receiver.hpp>

namespace sessionq::client {

/// The library's way into the public classes, which name it as a friend.
struct Access {
    [[nodiscard]] static const std::shared_ptr<ClientCore>& core(const Client& client) noexcept {
        return client.core_;
    }
    [[nodiscard]] static const std::shared_ptr<BrokerHost>& host(
        const LocalBroker& broker) noexcept {
        return broker.host_;
    }
    [[nodiscard]] static const SenderCore& core(const Sender& sender) noexcept {
        return *sender.core_;
    }
    [[nodiscard]] static const BrowserCore& core(const Browser& browser) noexcept {
        return *browser.core_;
    }
    [[nodiscard]] static const std::shared_ptr<HeldSession>& session(
        const SessionReceiver& receiver) noexcept {
        return receiver.session_;
    }
    [[nodiscard]] static const std::shared_ptr<HeldSession>& session(
        const SessionMessage& message) noexcept {
        return message.session_;
    }
    [[nodiscard]] static const std::shared_ptr<HeldDelivery>& delivery(
        const SessionMessage& message) noexcept {
        return message.delivery_;
    }
    [[nodiscard]] static processor::SessionDriver& driver(const SessionContext& session) noexcept {
        return *session.driver_;
    }

    [[nodiscard]] static SessionReceiver make_receiver(std::shared_ptr<HeldSession> session) {
        return SessionReceiver{std::move(session)};
    }
    [[nodiscard]] static SessionMessage make_message(std::shared_ptr<HeldSession> session,
                                                     std::shared_ptr<HeldDelivery> delivery) {
        return {std::move(session), std::move(delivery)};
    }
};

} // namespace sessionq::client
