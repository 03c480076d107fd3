// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <sessionq/session_context.hpp>
#include <sessionq/testing/fake_session.hpp>

#include "client/receiving/message_holder.hpp"
#include "client/testing/test_broker.hpp"
#include "client/testing/test_executor.hpp"
#include "dispatch/coroutine_host.hpp"
#include "processor/handled_session.hpp"

namespace sessionq::client {

/// A session in an application's test, without a broker. Any thread.
class TestSession final : public processor::HandledSession,
                          public MessageHolder,
                          public std::enable_shared_from_this<TestSession> {
public:
    explicit TestSession(testing::FakeSessionOptions options);

    /// Null: it is a processor's session.
    [[nodiscard]] static TestSession* of(const SessionContext& session) noexcept;

    // As handlers see it
    [[nodiscard]] const std::string& session_id() const noexcept override {
        return options_.session_id;
    }
    [[nodiscard]] const std::string& entity() const noexcept override { return options_.entity; }
    [[nodiscard]] Deadline lock_expires() const noexcept override { return options_.lock_expires; }
    [[nodiscard]] std::stop_token stop_token() const noexcept override { return stop_.get_token(); }
    void release() noexcept override { broker_.release(); }
    [[nodiscard]] dispatch::CoroutineHost& coroutines() override { return coroutines_; }
    [[nodiscard]] processor::SessionDriver* driver() const noexcept override { return nullptr; }

    // As its deferred messages see it
    void require(ports::Capability /*capability*/) const override {}
    void require_held() const override { broker_.require_held(); }
    [[nodiscard]] std::optional<Operation<core::Done>> settle(
        DeliveryPtr delivery, ports::Settlement settlement,
        const OperationContext& context) override;
    [[nodiscard]] Operation<Deadline> renew_lock(const HeldDelivery& delivery,
                                                 const OperationContext& context) override;

    [[nodiscard]] TestBroker& broker() noexcept { return broker_; }
    [[nodiscard]] SessionContext& context() noexcept { return context_; }
    [[nodiscard]] bool removes() const noexcept { return options_.receive_and_delete; }
    [[nodiscard]] TestExecutor& executor() noexcept { return executor_; }
    void request_stop() { stop_.request_stop(); }

private:
    const testing::FakeSessionOptions options_;
    TestBroker broker_;
    SessionContext context_;
    std::stop_source stop_{};
    TestExecutor executor_{};
    dispatch::CoroutineHost coroutines_{executor_};
};

} // namespace sessionq::client
