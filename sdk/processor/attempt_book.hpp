// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include "processor/message_machine.hpp"
#include "processor/session_record.hpp"
#include "processor/session_state.hpp"

namespace sessionq::processor {

/// Decides what is noted of a session's suspects (`CrashGuard`): an attempt before the handler
/// starts, and that it did not kill when the handler has ended. So what is still noted when another
/// holder reads it was a death. One suspect at a time: the lane is held until the broker has
/// confirmed what became of it. Without a guard every suspect starts at once.
class AttemptBook {
public:
    enum class Next : std::uint8_t {
        start,
        wait, ///< for `turn_came` or `written`
        out,  ///< it has killed too often
    };

    explicit AttemptBook(SessionState& session) noexcept : session_{session} {}

    /// Whether the session's record is looked at before a message is handled that arrives.
    /// `earlier`: the session had others before.
    [[nodiscard]] bool suspects(std::uint32_t deliveries, bool holder_lost,
                                bool earlier) const noexcept {
        const auto& guard = session_.terms.options.crash_guard;
        return deliveries != 0 || (guard && (holder_lost || (guard->every_session && !earlier)));
    }

    /// As the session's record says.
    void known(NotedAttempts noted) noexcept { noted_ = noted; }
    /// What is noted now, or is to be written.
    [[nodiscard]] NotedAttempts noted() const noexcept { return noted_; }

    /// The record is known, and the suspect is to be handled.
    [[nodiscard]] Next admit(const Suspect& suspect) {
        const auto& guard = session_.terms.options.crash_guard;
        if (!guard) {
            return Next::start;
        }
        deaths_ = noted_.sequence == suspect.sequence && noted_.begun != 0
                      ? noted_.begun
                      : static_cast<std::uint32_t>(suspect.holder_lost);
        suspect_ = suspect.sequence;
        if (deaths_ >= guard->deaths) {
            stage_ = guard->then == CrashGuard::Action::dead_letter ? Stage::over : Stage::none;
            return Next::out;
        }
        // The process dies with what other sessions handle: a suspect that is nearly condemned is
        // handled alone, and is not condemned for what another one does.
        const bool alone = deaths_ > 1 || deaths_ + 1 >= guard->deaths;
        stage_ = Stage::queued;
        turn_ = Turn::asked;
        session_.add(Kind::take_turn, alone ? 1U : 0U);
        return Next::wait;
    }
    /// No suspect of another session is in the way.
    void turn_came() {
        if (stage_ == Stage::queued) {
            note();
        }
    }
    /// The broker has answered to a change. True: the suspect may start.
    [[nodiscard]] bool written() noexcept {
        writing_ -= writing_ != 0 ? 1 : 0;
        if (stage_ != Stage::noting || is_writing()) {
            return false;
        }
        stage_ = Stage::running;
        return true;
    }

    /// The suspect's handler has ended. Unless the message leaves the session it comes again, and
    /// that was no death.
    void ended(const MessageEnd& end) {
        const bool stays = end.decision ? goes_back(*end.decision) : end.ending == Ending::failed;
        if (stays) {
            withdraw();
            end_turn();
        } else {
            stage_ = Stage::over;
        }
    }
    /// A message has left.
    void gone() {
        if (stage_ == Stage::over) {
            end_turn();
        }
    }
    /// The session is about to be given back. True: what is noted goes first.
    [[nodiscard]] bool tidy() {
        end_turn();
        switch (std::exchange(stage_, Stage::none)) {
        case Stage::none:
        case Stage::queued: return false;
        case Stage::noting:
        case Stage::running: withdraw(); return true; // it never started
        case Stage::over:
            noted_ = {};
            write();
            return true;
        }
        return false;
    }
    void end_turn() {
        if (std::exchange(turn_, Turn::none) == Turn::asked) {
            session_.add(Kind::end_turn);
        }
    }

    /// The broker has not confirmed a change.
    [[nodiscard]] bool is_writing() const noexcept { return writing_ != 0; }

private:
    using Kind = SessionAction::Kind;

    enum class Stage : std::uint8_t {
        none,
        queued, ///< waits for the turn
        noting, ///< waits for the broker's confirmation
        running,
        over, ///< the message leaves: its note can go
    };

    enum class Turn : std::uint8_t { none, asked };

    void note() {
        stage_ = Stage::noting;
        noted_ = {.sequence = suspect_, .begun = deaths_ + 1};
        write();
    }
    void withdraw() {
        stage_ = Stage::none;
        noted_ = {.sequence = suspect_, .begun = deaths_};
        write();
    }
    void write() {
        ++writing_;
        session_.add(Kind::write_attempts);
    }

    SessionState& session_;
    NotedAttempts noted_{};
    std::int64_t suspect_{0};
    std::uint32_t deaths_{0}; ///< of the suspect, before this attempt
    std::uint32_t writing_{0};
    Stage stage_{Stage::none};
    Turn turn_{Turn::none};
};

} // namespace sessionq::processor
