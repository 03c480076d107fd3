// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include <sessionq/redrive.hpp>

namespace sessionq::detail::client {

/// Decides each step of a redrive: which session is next, which copies are sent, which letters are
/// completed, and when to give up. `RedriveRun` performs the steps, and so does the simulation. The
/// copy of a dead letter is sent only after the copies of all earlier letters of its session. A
/// dead letter is completed only after its copy was confirmed. No I/O, no clock.
///
/// Call `plan` for each selected dead letter, in order. Then perform the step that `next` returns
/// and report its result, until the step is `Finish`.
class RedriveMachine {
public:
    using Number = std::int64_t;
    using Numbers = std::vector<Number>;
    using SessionId = std::optional<std::string>;

    /// Receive dead letters. Wait for the first one for at most `wait`.
    struct Receive {
        Duration wait;
    };
    /// Lock the session in the entity.
    struct Hold {
        std::string session_id;
    };
    /// Search the entity for copies that an earlier redrive has sent. With `session_id`, that
    /// session is held: search its messages only. Otherwise search the whole entity.
    struct Look {
        SessionId session_id;
    };
    /// Send copies of these letters, in order: as many from the front as fit.
    struct Send {
        Numbers numbers;
    };
    /// Complete these dead letters.
    struct Complete {
        Numbers numbers;
    };
    /// Give the session back, if one is held.
    struct Leave {};
    /// Nothing is left to do.
    struct Finish {};
    using Step = std::variant<Receive, Hold, Look, Send, Complete, Leave, Finish>;

    static constexpr std::size_t most_at_once = 100;
    static constexpr Duration ask_busy_again = std::chrono::seconds{1};

    RedriveMachine(bool holds_sessions, Duration max_wait, TimePoint now) noexcept
        : holds_sessions_{holds_sessions}, max_wait_{max_wait}, last_progress_{now} {}

    /// A dead letter was selected. The numbers must rise. Ids that differ only in case are one
    /// session.
    void plan(Number number, const SessionId& session_id);

    [[nodiscard]] Step next(TimePoint now);

    /// Answers `Receive`. Call it in any case, and then `received` for each dead letter that came.
    void received_nothing();
    /// A dead letter was received and is locked. Returns false if the letter was not planned, or is
    /// completed already. Keep its lock all the same, so that the broker does not deliver it again.
    /// Only the first `most_arrivals` arrivals of a letter count as progress.
    bool received(Number number, TimePoint now);
    /// The lock of a dead letter of the current session is lost.
    void lost(Number number);

    void held();              ///< Answers `Hold`.
    void busy(TimePoint now); ///< Answers `Hold`: another consumer has the session.
    void cannot_hold();       ///< Answers `Hold`: the entity has no sessions.
    void hold_lost();         ///< The lock of the session is lost.

    void found_copy(Number number); ///< `Look` has found the copy of this dead letter.
    void looked();                  ///< `Look` is done.

    void sent(Number number);                     ///< The broker has confirmed the copy.
    void completed(Number number, TimePoint now); ///< The broker has removed the dead letter.
    void left();                                  ///< Answers `Leave`.

    [[nodiscard]] const RedriveReport& report() const noexcept { return report_; }

private:
    enum class Place : std::uint8_t { broker, hand };
    enum class Copy : std::uint8_t { none, sent, sent_before };
    enum class Stage : std::uint8_t { hold, look, send, leave };

    /// How often a letter may arrive and still count as progress. A letter comes again if its lock
    /// was lost.
    static constexpr std::uint8_t most_arrivals = 10;

    struct Letter {
        Place place{Place::broker};
        Copy copy{Copy::none};
        std::uint8_t arrivals{0};
    };
    struct Session {
        SessionId id{};
        std::map<Number, Letter> letters{}; // the letters that are not completed
        std::size_t in_hand{0};
        bool is_looked_through{false}; // for copies that an earlier redrive has sent
        TimePoint ask_again{};
    };

    [[nodiscard]] Step next_of(Session& session);
    [[nodiscard]] Session* choose(TimePoint now);
    [[nodiscard]] bool gives_up(TimePoint now) const noexcept;
    void enter(Session& session);
    [[nodiscard]] Letter* find(Number number);

    bool holds_sessions_;
    const Duration max_wait_;
    TimePoint last_progress_;
    std::deque<Session> sessions_{};        // by their first dead letter
    std::map<SessionId, Session*> by_id_{}; // by the folded id
    std::unordered_map<Number, Session*> by_number_{};
    std::unordered_set<Number> others_{}; // came, but not planned, or already completed
    std::deque<Session*> ready_{};        // all their letters are in hand
    std::deque<Session*> busy_{};         // another consumer has them; the first is asked first
    Session* current_{nullptr};
    Stage stage_{Stage::hold};
    bool is_held_{false};       // the current session
    bool received_none_{false}; // no new dead letter came since `received_nothing`
    std::size_t last_try_{0};   // after giving up: the sessions before it were tried once more
    RedriveReport report_{};
};

} // namespace sessionq::detail::client
