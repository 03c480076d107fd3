// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include <sessionq/message_context.hpp>

#include "core/access.hpp"
#include "ports/own_lock.hpp"
#include "processor/message/handled_message.hpp"
#include "processor/message/late_end_book.hpp"
#include "processor/message/message_machine.hpp"
#include "processor/report/meters.hpp"
#include "processor/shard_call.hpp"

namespace sessionq::processor {

class SessionDriver;

/// One message of a session: the delivery, its machine, its place in the lane and what its handler
/// decided, in one piece of memory. Made and destroyed on the session's loop, in memory that the
/// shard keeps for the next one. Run on a worker, and told back to the loop through the queue of
/// notices.
class MessageCall final : public HandledMessage, public ShardCall, public MessageMachine {
public:
    [[nodiscard]] static std::unique_ptr<MessageCall> make(SessionDriver& driver);
    static void operator delete(MessageCall* call, std::destroying_delete_t) noexcept;

    explicit MessageCall(SessionDriver& driver) noexcept
        : driver_{&driver}, context_{client::Access::make<MessageContext>(*this)} {}

    // On a worker
    dispatch::Verdict run() noexcept override;
    void noticed() override;
    /// The handler has ended, which is to be told. Keeps what it threw, and the policy for that.
    /// What returns holds the lane from here on, also while the application chooses a policy.
    void keep(std::exception_ptr error) noexcept;
    /// Notes how the message ended. True: it is to hold the lane.
    bool end_with(Ending ending) noexcept;

    void settle(ports::Settlement settlement) override;
    [[nodiscard]] bool decided() const noexcept override {
        return decision_.load(std::memory_order_acquire) != Decision::open;
    }
    [[nodiscard]] HandledSession& session() const noexcept override;
    [[nodiscard]] std::uint32_t attempt() const noexcept override {
        return MessageMachine::attempt();
    }
    [[nodiscard]] std::stop_token stop_token() const noexcept override;
    [[nodiscard]] OperationContext operation_context() const override;

    // On the loop
    [[nodiscard]] const MessageEnd& end() const noexcept { return end_; }

    /// Decides for a call whose handler did not, unless it is decided already.
    bool decide(ports::Settlement settlement);

    /// What was decided; taken once, to be sent.
    [[nodiscard]] ports::Settlement take_settlement();
    [[nodiscard]] ports::Outcome outcome() const noexcept { return outcome_; }

    CallTimes times{};
    std::shared_ptr<ports::OwnLock> own_lock{}; ///< null: its session's lock covers it

private:
    static constexpr std::uint8_t settle_notice = 1;
    static constexpr std::uint8_t finish_notice = 2;

    enum class Decision : std::uint8_t { open, deciding, made };

    struct Failed {
        std::string text{};
        std::unique_ptr<FailurePolicy> policy{}; ///< chosen for this failure; null: as configured
    };

    dispatch::Verdict start_asynchronous();
    void asynchronous_done(std::exception_ptr error) noexcept;
    dispatch::Verdict leave_unstarted(Ending ending) noexcept;
    /// Once it is told that the handler has ended, the loop may destroy the call. Returns what
    /// `run` returns then.
    dispatch::Verdict notify(std::uint8_t notice) noexcept;

    SessionDriver* driver_;
    MessageContext context_;
    std::atomic<Decision> decision_{Decision::open};
    std::atomic<std::uint8_t> notices_{0};
    LateEndBook late_end_{};
    MessageEnd end_{};
    ports::Outcome outcome_{ports::Outcome::complete};
    std::unique_ptr<ports::Settlement>
        details_{};                    ///< only for outcomes that carry more than themselves
    std::unique_ptr<Failed> failed_{}; ///< the last try
};

} // namespace sessionq::processor
