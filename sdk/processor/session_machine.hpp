#pragma once

#include <cstdint>
#include <optional>

#include <sessionq/session_context.hpp>

namespace sessionq::processor {

/// What the pump of a session does next; several at once, in the order of the members.
struct SessionActions {
    bool fire_stop{false};       ///< the handlers' stop token
    bool pause_lane{false};      ///< nothing more starts
    bool release_waiting{false}; ///< what has not started goes back, uncounted
    bool discard_waiting{
        false}; ///< what has not started is forgotten: the lease is lost, the broker has it
    bool settle_failed{
        false};              ///< the message that failed is abandoned now, after what was behind it
    bool start_drain{false}; ///< ask for the credit back
    bool commit_idle{false}; ///< try to end the idle clock; answer with `idle_committed`
    bool release_lane{false}; ///< the call that holds the lane is dealt with
    bool grant_credit{false};
    bool run_open{false};   ///< the user's on_session_open
    bool run_close{false};  ///< the user's on_session_close
    bool close_link{false}; ///< give the session back; the slot may accept the next one (R4)
    bool finished{false};   ///< nothing is left; the pump may go
};

/// Decides the life of one held session: open, work, rewind after an abandoned message, leave
/// without loss (R1-R6). No I/O, no clock.
///
/// Counts what is in flight itself, on the session's thread; `SessionIdleTimer` is the thread-safe
/// judge of idleness beside it.
class SessionMachine {
public:
    enum class Phase : std::uint8_t {
        opening,    ///< on_session_open runs
        working,    ///< messages flow
        idling_out, ///< the idle clock is due; the drain's answer decides (R3)
        rewinding,  ///< a message is to be abandoned: what is behind it goes back first (R6)
        leaving, ///< no new handler starts; waits for the drain, and for handlers and settlements
                 ///< under way
        closing_call, ///< on_session_close runs
        closing_link, ///< the session was given back; waits for the broker's word
        finished,
    };

    /// What becomes of a message that arrives.
    enum class Arrival : std::uint8_t {
        enqueue, ///< into the lane, which may be paused: then it goes back with what waits there
        release, ///< too late: goes back at once, uncounted (R3)
        dead_letter, ///< the rest of the session is dead-lettered
    };

    struct Traits {
        bool has_open_handler{false};
        bool has_close_handler{false};
        bool handles_all{false};     ///< receive-and-delete: what arrived cannot go back, so it is
                                     ///< handled before leaving
        bool roll_when_empty{false}; ///< idle timeout zero: once a drain has shown the session
                                     ///< empty no more credit is given (R4)
    };

    explicit SessionMachine(Traits traits) noexcept
        : has_open_{traits.has_open_handler},
          has_close_{traits.has_close_handler},
          handles_all_{traits.handles_all},
          roll_when_empty_{traits.roll_when_empty} {}

    // Inputs
    [[nodiscard]] SessionActions opened() noexcept; ///< the accept was answered
    [[nodiscard]] SessionActions open_finished(bool succeeded) noexcept;
    [[nodiscard]] SessionActions open_skipped() noexcept; ///< on_session_open never ran, so
                                                          ///< on_session_close does not either
    [[nodiscard]] Arrival delivered() noexcept;           ///< a message came; uses up a credit
    [[nodiscard]] SessionActions settled() noexcept; ///< a message left: settled, released or lost
    [[nodiscard]] SessionActions idle_due() noexcept;
    [[nodiscard]] SessionActions idle_committed(bool committed) noexcept;
    [[nodiscard]] SessionActions drained() noexcept;
    [[nodiscard]] SessionActions drain_overdue() noexcept;
    [[nodiscard]] SessionActions rewind() noexcept; ///< a failed message is to be abandoned; its
                                                    ///< lane is on hold
    [[nodiscard]] SessionActions leave(CloseReason reason) noexcept;
    [[nodiscard]] SessionActions dead_letter_rest() noexcept;
    [[nodiscard]] SessionActions lost(
        CloseReason reason) noexcept;                       ///< the link or the lease is gone
    [[nodiscard]] SessionActions close_finished() noexcept; ///< on_session_close returned
    [[nodiscard]] SessionActions link_closed() noexcept;
    void credit_added(std::uint32_t count) noexcept { credit_ += count; }
    void drain_asked() noexcept { drain_outstanding_ = true; }

    // Facts
    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    [[nodiscard]] bool may_grant_credit() const noexcept;
    [[nodiscard]] bool is_lost() const noexcept { return lost_; }
    [[nodiscard]] bool is_leaving() const noexcept { return phase_ >= Phase::leaving; }
    [[nodiscard]] bool drain_outstanding() const noexcept { return drain_outstanding_; }
    [[nodiscard]] bool shown_empty() const noexcept { return shown_empty_; }
    [[nodiscard]] bool dead_lettering() const noexcept { return dead_lettering_; }
    [[nodiscard]] std::uint32_t in_flight() const noexcept { return in_flight_; }
    [[nodiscard]] std::uint32_t credit() const noexcept { return credit_; }
    [[nodiscard]] CloseReason close_reason() const noexcept {
        return reason_.value_or(CloseReason::idle);
    }

private:
    [[nodiscard]] SessionActions begin_leave(CloseReason reason) noexcept;
    void release(SessionActions& actions) noexcept;
    void step(SessionActions& actions) noexcept;
    void finish_rewind(SessionActions& actions) noexcept;

    bool has_open_;
    bool has_close_;
    bool handles_all_;
    bool roll_when_empty_;
    Phase phase_{Phase::working};
    bool opened_{false};
    bool open_running_{false};
    bool drain_outstanding_{false};
    bool drain_unanswered_{false}; ///< given up on: no credit on this link any more
    bool rewind_released_{false};
    bool release_pending_{false}; ///< leaving: what waits goes back once the drain is answered
    bool shown_empty_{false};
    bool dead_lettering_{false};
    bool lost_{false};
    std::uint32_t in_flight_{0};
    std::uint32_t credit_{0};
    std::optional<CloseReason> reason_{};
};

} // namespace sessionq::processor
