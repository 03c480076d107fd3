#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include <sessionq/message_context.hpp>

#include "ports/delivery.hpp"
#include "processor/pump_call.hpp"

namespace sessionq::processor {

class SessionPump;

/// How a handler call ended.
enum class CallResult : std::uint8_t {
    handled,
    failed,      ///< the handler threw
    not_started, ///< the lease was ending; unless it was renewed meanwhile
    expired,     ///< the message's own deadline had passed (R22)
};

/// One message of a session: the delivery, its place in the lane, and what became of it, in one
/// piece of memory. Made on the session's loop, run on a worker, told back to the loop through the
/// shard's queue of notices. Made and destroyed on the loop, in memory that the shard keeps for the
/// next one.
class MessageCall final : public ports::Delivery, public PumpCall {
public:
    [[nodiscard]] static std::unique_ptr<MessageCall> make(SessionPump& pump);
    static void operator delete(MessageCall* call, std::destroying_delete_t) noexcept;

    explicit MessageCall(SessionPump& pump) noexcept : pump_{&pump}, context_{*this} {}

    // On a worker
    dispatch::Verdict run() noexcept override;
    void noticed() override;

    /// Decides the outcome, once, from any thread (R8). Throws already_settled or lock_lost.
    void settle(ports::Settlement settlement);
    [[nodiscard]] bool decided() const noexcept {
        return decision_.load(std::memory_order_acquire) != Decision::open;
    }

    [[nodiscard]] SessionPump& pump() const noexcept { return *pump_; }
    [[nodiscard]] MessageContext& context() noexcept { return context_; }
    [[nodiscard]] std::uint32_t attempt() const noexcept { return attempt_; }

    /// The sooner of the lease's end and the message's own deadline.
    [[nodiscard]] Deadline deadline() const noexcept;

    // On the loop
    [[nodiscard]] CallResult result() const noexcept { return result_; }
    [[nodiscard]] const std::string& failure_text() const noexcept { return failure_text_; }
    [[nodiscard]] bool held_lane() const noexcept { return held_lane_; }

    /// Decides for a call whose handler did not, unless it is decided already.
    bool decide(ports::Settlement settlement);

    /// What was decided; taken once, to be sent.
    [[nodiscard]] ports::Settlement take_settlement();
    [[nodiscard]] ports::Outcome outcome() const noexcept { return outcome_; }

    /// Ready for another try in place.
    void next_attempt(TimePoint now) noexcept;
    /// Ready for the try that was not made.
    void first_attempt_again(TimePoint now) noexcept;

    bool counted{false};  ///< the idle clock knows of it
    bool sent{false};     ///< the settlement was handed to the link, which has not answered
    bool answered{false}; ///< the link has answered
    bool finished{false}; ///< the handler has returned, or will not run
    TimePoint retry_at{}; ///< while it waits for its next try
    TimePoint ready_at{}; ///< when it arrived or became the next of its session

private:
    static constexpr std::uint8_t settle_notice = 1;
    static constexpr std::uint8_t finish_notice = 2;

    enum class Decision : std::uint8_t { open, deciding, made };
    enum class Progress : std::uint8_t { starting, waiting, ended };

    dispatch::Verdict start_asynchronous();
    void asynchronous_done(std::exception_ptr error) noexcept;
    CallResult keep(std::exception_ptr error) noexcept;
    dispatch::Verdict conclude(CallResult result) noexcept;
    void notify(std::uint8_t notice) noexcept;

    SessionPump* pump_;
    MessageContext context_;
    std::atomic<Decision> decision_{Decision::open};
    std::atomic<std::uint8_t> notices_{0};
    std::atomic<Progress> progress_{Progress::starting};
    CallResult result_{CallResult::handled};
    bool held_lane_{false};
    std::uint32_t attempt_{1};
    ports::Outcome outcome_{ports::Outcome::complete};
    std::unique_ptr<ports::Settlement>
        details_{}; ///< only for outcomes that carry more than themselves
    std::string failure_text_{};
};

} // namespace sessionq::processor
