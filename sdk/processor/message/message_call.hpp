// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <sessionq/message_context.hpp>

#include "core/access.hpp"
#include "ports/own_lock.hpp"
#include "processor/message/handled_message.hpp"
#include "processor/message/message_machine.hpp"
#include "processor/report/meters.hpp"
#include "processor/shard_call.hpp"

namespace sessionq::detail::processor {

class SessionDriver;

/// One message of a session, from its arrival until it has left. It holds the delivery, the
/// machine, the place in the lane and the handler's decision in one piece of memory.
/// `SessionDriver` makes and destroys it on the loop. The shard keeps the memory for later
/// messages. A worker runs the call. The call returns to the loop through the queue of notices.
class MessageCall final : public HandledMessage, public ShardCall, public MessageMachine {
public:
    [[nodiscard]] static std::unique_ptr<MessageCall> make(SessionDriver& driver);
    static void operator delete(MessageCall* call, std::destroying_delete_t) noexcept;

    explicit MessageCall(SessionDriver& driver) noexcept
        : driver_{&driver}, context_{client::Access::make<MessageContext>(*this)} {}

    // On a worker
    dispatch::Verdict run() noexcept override;
    void noticed() override;
    /// Notes the end of the handler, its exception, and the failure policy for the exception. A
    /// failure that the handler stated by `fail` counts as an exception if it threw none. If
    /// the message must hold the lane, the hold begins before the application is asked for a
    /// policy. So no later message starts meanwhile. The caller must queue a notice for the loop
    /// afterwards.
    void keep(std::exception_ptr error) noexcept;
    /// Notes how the message ended. Returns true if it must hold the lane.
    bool end_with(Ending ending) noexcept;

    void settle(ports::Settlement settlement) override;
    [[nodiscard]] bool decided() const noexcept override {
        return decision_.load(std::memory_order_acquire) != Decision::open;
    }
    void fail(Failure failure) noexcept override;
    [[nodiscard]] bool has_failure() const noexcept {
        return has_failure_.load(std::memory_order_acquire);
    }
    [[nodiscard]] HandledSession& session() const noexcept override;
    [[nodiscard]] std::uint32_t attempt() const noexcept override {
        return MessageMachine::attempt();
    }
    [[nodiscard]] std::stop_token stop_token() const noexcept override;
    [[nodiscard]] OperationContext operation_context() const override;

    // On the loop
    [[nodiscard]] const MessageEnd& end() const noexcept { return end_; }

    /// Decides the outcome. Returns false if the outcome was decided before. The session calls it
    /// if the handler did not decide.
    bool decide(ports::Settlement&& settlement);
    /// The same for an outcome without a reason and properties.
    bool decide(ports::Outcome outcome) noexcept;

    /// Returns the settlement to send. Called once.
    [[nodiscard]] ports::Settlement take_settlement();
    [[nodiscard]] ports::Outcome outcome() const noexcept { return outcome_; }

    CallTimes times{};
    std::shared_ptr<ports::OwnLock>
        own_lock{}; ///< null: the lock of the session covers the message

private:
    static constexpr std::uint8_t settle_notice = 1;
    static constexpr std::uint8_t finish_notice = 2;

    enum class Decision : std::uint8_t { open, deciding, made };

    struct Failed {
        std::string text{};
        std::unique_ptr<FailurePolicy> policy{}; ///< chosen for this failure; null: as configured
        std::exception_ptr stated{};             ///< by `fail`
    };

    [[nodiscard]] std::exception_ptr thrown_or_stated(std::exception_ptr thrown) const noexcept;
    [[nodiscard]] SessionView& session_view() const noexcept override;
    void handler_ended(std::exception_ptr error) noexcept override { keep(std::move(error)); }
    dispatch::Verdict conclude() noexcept override;
    [[nodiscard]] bool begin_decision() noexcept; ///< false: another one has begun
    dispatch::Verdict leave_unstarted(Ending ending) noexcept;
    /// Queues a notice for the loop. After the notice of the handler's end, the loop may destroy
    /// the call at any time. Returns the verdict for `run`.
    dispatch::Verdict notify(std::uint8_t notice) noexcept;

    SessionDriver* driver_;
    MessageContext context_;
    std::atomic<Decision> decision_{Decision::open};
    std::atomic<std::uint8_t> notices_{0};
    std::atomic<bool> has_failure_{false}; ///< `fail` was called in this try
    MessageEnd end_{};
    ports::Outcome outcome_{ports::Outcome::complete};
    std::unique_ptr<ports::Settlement>
        details_{};                    ///< only for an outcome with a reason or properties
    std::unique_ptr<Failed> failed_{}; ///< the failure of the last try
};

} // namespace sessionq::detail::processor
