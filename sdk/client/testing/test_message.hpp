// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include <sessionq/batch_handler.hpp>
#include <sessionq/message_context.hpp>
#include <sessionq/message_handler.hpp>
#include <sessionq/testing/settlement.hpp>

#include "client/testing/test_session.hpp"
#include "processor/handled_message.hpp"

namespace sessionq::client {

[[nodiscard]] testing::Settlement to_public(ports::Settlement&& settlement);

/// As the broker would deliver it.
[[nodiscard]] ReceivedMessage to_received(Message message, const std::string& session_id,
                                          DeliveryFacts facts);

/// A message in an application's test, without a broker.
class TestMessage final : public processor::HandledMessage {
public:
    TestMessage(std::shared_ptr<TestSession> session, Message message, DeliveryFacts facts,
                std::uint32_t attempt);

    void settle(ports::Settlement settlement) override;
    [[nodiscard]] bool decided() const noexcept override { return settlement().has_value(); }
    [[nodiscard]] processor::HandledSession& session() const noexcept override { return *session_; }
    [[nodiscard]] std::uint32_t attempt() const noexcept override { return attempt_; }
    [[nodiscard]] std::stop_token stop_token() const noexcept override {
        return session_->stop_token();
    }
    [[nodiscard]] OperationContext operation_context() const override {
        return OperationContext{message.deadline(), stop_token()};
    }

    [[nodiscard]] MessageContext& context() noexcept { return context_; }
    [[nodiscard]] std::optional<testing::Settlement> settlement() const {
        const std::lock_guard guard{mutex_};
        return settlement_;
    }
    /// Throws the handler's exceptions.
    void run(const MessageHandler& handler);
    /// Throws also invalid_argument.
    static void run(std::span<TestMessage* const> batch, const BatchHandler& handler);

private:
    const std::shared_ptr<TestSession> session_;
    const std::uint32_t attempt_;
    MessageContext context_;
    mutable std::mutex mutex_{};
    std::optional<testing::Settlement> settlement_{}; ///< guarded by `mutex_`
};

} // namespace sessionq::client
