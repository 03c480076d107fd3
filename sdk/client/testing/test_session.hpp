// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

#include <sessionq/batch_handler.hpp>
#include <sessionq/error.hpp>
#include <sessionq/message_context.hpp>
#include <sessionq/message_handler.hpp>
#include <sessionq/received_message.hpp>
#include <sessionq/session_context.hpp>
#include <sessionq/session_handler.hpp>
#include <sessionq/testing/fake_session.hpp>
#include <sessionq/testing/settlement.hpp>

#include "client/receiving/message_holder.hpp"
#include "client/receiving/receive_book.hpp"
#include "core/executor.hpp"
#include "dispatch/coroutine_host.hpp"
#include "processor/message/handled_message.hpp"
#include "processor/session/handled_session.hpp"

namespace sessionq::detail::client {

/// Stands for the broker in an application's test. Each `TestSession` has one. It keeps the changes
/// that a handler makes to its session, and answers the handler's requests at once. Any thread.
class TestBroker {
public:
    explicit TestBroker(std::optional<std::string> state) { keep(std::move(state)); }

    // For handlers. These throw lock_lost after `lose`, and the error of `fail_requests` if it is
    // set.
    [[nodiscard]] std::optional<std::string> read_state() const;
    void write_state(std::optional<std::string> state);
    /// `removes`: the messages need no settling.
    [[nodiscard]] Deliveries receive_deferred(std::span<const std::int64_t> numbers, bool removes);
    void settle_deferred(std::int64_t number, testing::Settlement settlement);
    void require_held() const;
    void release() noexcept;
    [[nodiscard]] bool is_held() const;

    // For the test
    [[nodiscard]] std::int64_t next_sequence() noexcept;
    void defer(ReceivedMessage message);
    [[nodiscard]] std::optional<testing::Settlement> settlement_of(std::int64_t number) const;
    [[nodiscard]] std::optional<std::string> state() const;
    void set_state(std::optional<std::string> state);
    [[nodiscard]] bool released() const;
    void lose();
    void fail_requests(std::optional<Errc> why);

private:
    struct Deferred {
        ReceivedMessage message{};
        bool held{false}; ///< received, and not settled
        bool gone{false}; ///< completed, dead-lettered or removed
        std::optional<testing::Settlement> settlement{};
    };
    struct Kept {
        std::optional<std::string> state{};
        std::map<std::int64_t, Deferred> deferred{};
        std::int64_t last_sequence{0};
        std::optional<Errc> fails{};
        bool released{false};
        bool lost{false};
    };

    // `mutex_` is held, or the object is being made.
    void begin_request() const;
    void keep(std::optional<std::string> state);

    mutable std::mutex mutex_{};
    Kept kept_{}; ///< guarded by `mutex_`
};

/// Runs a coroutine handler on the thread of the application's test. `TestMessage::run` waits in
/// this executor until the handler ends.
class TestExecutor final : public core::Executor {
public:
    void post(core::Task task) override {
        const std::lock_guard lock{mutex_};
        tasks_.push_back(std::move(task));
        posted_.notify_one();
    }

    /// Runs tasks until one of them makes `ended` true, and then the tasks that are left.
    template <typename Ended>
    void run_until(Ended ended) {
        while (!ended()) {
            run(take(true));
        }
        for (core::Task task = take(false); task; task = take(false)) {
            run(std::move(task));
        }
    }

private:
    static void run(core::Task task) { task(); }

    /// Returns the next task. If there is none, waits for one, or returns an empty task if `waits`
    /// is false.
    [[nodiscard]] core::Task take(bool waits) {
        std::unique_lock lock{mutex_};
        if (waits) {
            posted_.wait(lock, [this] { return !tasks_.empty(); });
        } else if (tasks_.empty()) {
            return {};
        }
        core::Task task = std::move(tasks_.front());
        tasks_.pop_front();
        return task;
    }

    std::mutex mutex_{};
    std::condition_variable posted_{};
    std::deque<core::Task> tasks_{}; ///< guarded by `mutex_`
};

/// The session behind a `FakeSession` of an application's test. The handler sees it as a
/// `SessionContext`. There is no broker. Any thread.
class TestSession final : public processor::HandledSession,
                          public MessageHolder,
                          public std::enable_shared_from_this<TestSession> {
public:
    explicit TestSession(testing::FakeSessionOptions options);

    /// Returns the session of a test behind the context. Null: a processor holds the session.
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
    [[nodiscard]] std::optional<Operation<core::Done>> settle(DeliveryPtr delivery,
                                                              ports::Settlement settlement,
                                                              const CallOptions& call) override;
    [[nodiscard]] Operation<Deadline> renew_lock(const HeldDelivery& delivery,
                                                 const CallOptions& call) override;

    [[nodiscard]] TestBroker& broker() noexcept { return broker_; }
    [[nodiscard]] SessionContext& context() noexcept { return context_; }
    [[nodiscard]] bool removes() const noexcept { return options_.receive_and_delete; }
    [[nodiscard]] bool auto_complete() const noexcept { return options_.auto_complete; }
    [[nodiscard]] const FailurePolicy& failure_policy() const noexcept {
        return options_.failure_policy;
    }
    [[nodiscard]] TestExecutor& executor() noexcept { return executor_; }
    void request_stop() { stop_.request_stop(); }

    // These throw the handler's exceptions.
    void run(const SessionOpenHandler& handler);
    void run(const SessionCloseHandler& handler, CloseReason reason);

private:
    const testing::FakeSessionOptions options_;
    TestBroker broker_;
    SessionContext context_;
    std::stop_source stop_{};
    TestExecutor executor_{};
    dispatch::CoroutineHost coroutines_{executor_};
};

/// Returns the message as a broker would deliver it.
[[nodiscard]] ReceivedMessage to_received(Message message, const std::string& session_id,
                                          DeliveryFacts facts);

/// The message behind a `FakeMessage` of an application's test. The handler sees it as a
/// `MessageContext`. There is no broker.
class TestMessage final : public processor::HandledMessage {
public:
    TestMessage(std::shared_ptr<TestSession> session, Message message, DeliveryFacts facts,
                std::uint32_t attempt);

    void settle(ports::Settlement settlement) override;
    [[nodiscard]] bool decided() const noexcept override { return settlement().has_value(); }
    void fail(Failure failure) noexcept override;
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
    [[nodiscard]] std::optional<Failure> failure() const {
        const std::lock_guard guard{mutex_};
        return failure_;
    }
    /// Throws the handler's exceptions.
    void run(const MessageHandler& handler);
    /// Throws the handler's exceptions, and invalid_argument if the batch is empty or has messages
    /// of several sessions.
    static void run(std::span<TestMessage* const> batch, const BatchHandler& handler);

private:
    /// Settles the message as a processor does when its handler has ended. `error`: the exception
    /// that it threw, or null.
    void end(std::exception_ptr error);
    static void end(std::span<TestMessage* const> batch, const std::exception_ptr& error);

    const std::shared_ptr<TestSession> session_;
    const std::uint32_t attempt_;
    MessageContext context_;
    mutable std::mutex mutex_{};
    std::optional<testing::Settlement> settlement_{}; ///< guarded by `mutex_`
    std::optional<Failure> failure_{};                ///< guarded by `mutex_`
};

} // namespace sessionq::detail::client
