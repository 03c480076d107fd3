// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include <sessionq/processor_options.hpp>

#include "processor/message/message_machine.hpp"
#include "processor/session/session_record.hpp"

namespace sessionq::detail::processor {

/// The next steps for a session's suspect (`Suspect`). Several may be set. `SessionMachine` takes
/// them in the order of the members.
struct AttemptSteps {
    bool write{false};    ///< write `noted` into the session's record
    bool end_turn{false}; ///< end the session's turn (`SuspectTurn`)
};

/// Decides when an attempt to handle a suspect is noted in the session's record. A suspect is a
/// message that may have killed its consumers (`CrashGuard`). `SessionMachine` asks the book before
/// a suspect starts and when its handler has ended. An attempt is noted before the handler starts.
/// The note is removed when the handler has ended without killing the process. So a note that
/// another holder finds in the record shows a death.
///
/// A session handles one suspect at a time: the lane is held until the broker has confirmed the
/// note about the suspect. Without a guard, every suspect starts at once.
class AttemptBook {
public:
    enum class Next : std::uint8_t {
        start,
        wait,       ///< wait for `turn_came`, and then for `written`
        wait_alone, ///< the same, while no other suspect of the processor is handled
        out,        ///< the suspect has killed too often
    };

    explicit AttemptBook(const std::optional<CrashGuard>& guard) noexcept : guard_{guard} {}

    /// Whether the session's record must be read before a message that arrives is handled.
    /// `earlier`: the session had other messages before.
    [[nodiscard]] bool suspects(std::uint32_t deliveries, bool holder_lost,
                                bool earlier) const noexcept {
        return deliveries != 0 || (guard_ && (holder_lost || (guard_->every_session && !earlier)));
    }

    /// The session's record was read.
    void known(NotedAttempts noted) noexcept { noted_ = noted; }
    /// The attempts that are noted now, or about to be written.
    [[nodiscard]] NotedAttempts noted() const noexcept { return noted_; }

    /// Decides how a suspect starts. The session's record is known.
    [[nodiscard]] Next admit(const Suspect& suspect) {
        if (!guard_) {
            return Next::start;
        }
        deaths_ = noted_.sequence == suspect.sequence && noted_.begun != 0
                      ? noted_.begun
                      : static_cast<std::uint32_t>(suspect.holder_lost);
        suspect_ = suspect.sequence;
        if (deaths_ >= guard_->deaths) {
            stage_ = guard_->then == CrashGuard::Action::dead_letter ? Stage::over : Stage::none;
            return Next::out;
        }
        // A crash also ends the handlers of other sessions. A suspect that is nearly condemned is
        // handled alone, so that it is not condemned for the crash of another suspect.
        const bool alone = deaths_ > 1 || deaths_ + 1 >= guard_->deaths;
        stage_ = Stage::queued;
        has_turn_ = true;
        return alone ? Next::wait_alone : Next::wait;
    }
    /// `SuspectTurn` gave the session its turn: no suspect of another session is in the way.
    [[nodiscard]] AttemptSteps turn_came() noexcept {
        if (stage_ != Stage::queued) {
            return {};
        }
        return note(Stage::noting, deaths_ + 1);
    }
    /// The broker has answered a write. Returns true if the suspect may start.
    [[nodiscard]] bool written() noexcept {
        writing_ -= writing_ != 0 ? 1 : 0;
        if (stage_ != Stage::noting || is_writing()) {
            return false;
        }
        stage_ = Stage::running;
        return true;
    }

    /// The suspect's handler has ended, so this attempt was no death. If the message may come
    /// again, the note of the attempt is removed now. If the handler settled the message for good,
    /// the note stays until `tidy` or the next note.
    [[nodiscard]] AttemptSteps ended(const MessageEnd& end) noexcept {
        const bool stays = end.decision ? goes_back(*end.decision) : end.ending == Ending::failed;
        if (!stays) {
            stage_ = Stage::over;
            return {};
        }
        AttemptSteps steps = note(Stage::none, deaths_);
        steps.end_turn = end_turn();
        return steps;
    }
    /// A message has left the session. If it was the suspect, its turn ends.
    [[nodiscard]] AttemptSteps gone() noexcept {
        return {.end_turn = stage_ == Stage::over && end_turn()};
    }
    /// The session is about to be given back. The note of an attempt is removed first.
    [[nodiscard]] AttemptSteps tidy() noexcept {
        AttemptSteps steps{};
        switch (std::exchange(stage_, Stage::none)) {
        case Stage::none:
        case Stage::queued: break;
        case Stage::noting:
        case Stage::running: steps = note(Stage::none, deaths_); break; // the suspect never started
        case Stage::over: steps = note(Stage::none, 0); break;
        }
        steps.end_turn = end_turn();
        return steps;
    }
    /// Ends the turn, or the wait for it. Returns false if the session had no turn and waited for
    /// none.
    [[nodiscard]] bool end_turn() noexcept { return std::exchange(has_turn_, false); }

    /// Whether a write awaits the broker's answer.
    [[nodiscard]] bool is_writing() const noexcept { return writing_ != 0; }

private:
    enum class Stage : std::uint8_t {
        none,
        queued, ///< waits for the turn
        noting, ///< waits for the broker's confirmation
        running,
        over, ///< the message leaves, so its note can go
    };

    [[nodiscard]] AttemptSteps note(Stage stage, std::uint32_t begun) noexcept {
        stage_ = stage;
        noted_ = {.sequence = suspect_, .begun = begun};
        ++writing_;
        return {.write = true};
    }

    const std::optional<CrashGuard>& guard_;
    NotedAttempts noted_{};
    std::int64_t suspect_{0};
    std::uint32_t deaths_{0}; ///< deaths by the suspect before this attempt
    std::uint32_t writing_{0};
    Stage stage_{Stage::none};
    bool has_turn_{false}; ///< the session has the turn, or has asked for it
};

} // namespace sessionq::detail::processor
