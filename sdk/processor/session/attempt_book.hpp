// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include <sessionq/processor_options.hpp>

#include "processor/message/message_machine.hpp"
#include "processor/session/session_record.hpp"

namespace sessionq::processor {

/// The steps that follow for a session's suspect; several at once, in the order of the members.
struct AttemptSteps {
    bool write{false};    ///< keep `noted` with the session
    bool end_turn{false}; ///< other suspects of the processor may have it
};

/// Decides what is noted of a session's suspects (`CrashGuard`): an attempt before the handler
/// starts, and that it did not kill when the handler has ended. So what is still noted when another
/// holder reads it was a death. One suspect at a time: the lane is held until the broker has
/// confirmed what became of it. Without a guard every suspect starts at once.
class AttemptBook {
public:
    enum class Next : std::uint8_t {
        start,
        wait,       ///< for `turn_came`, and then `written`
        wait_alone, ///< the same, while no other suspect of the processor is handled
        out,        ///< it has killed too often
    };

    explicit AttemptBook(const std::optional<CrashGuard>& guard) noexcept : guard_{guard} {}

    /// Whether the session's record is looked at before a message is handled that arrives.
    /// `earlier`: the session had others before.
    [[nodiscard]] bool suspects(std::uint32_t deliveries, bool holder_lost,
                                bool earlier) const noexcept {
        return deliveries != 0 || (guard_ && (holder_lost || (guard_->every_session && !earlier)));
    }

    /// As the session's record says.
    void known(NotedAttempts noted) noexcept { noted_ = noted; }
    /// What is noted now, or is to be written.
    [[nodiscard]] NotedAttempts noted() const noexcept { return noted_; }

    /// The record is known, and the suspect is to be handled.
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
        // The process dies with what other sessions handle: a suspect that is nearly condemned is
        // handled alone, and is not condemned for what another one does.
        const bool alone = deaths_ > 1 || deaths_ + 1 >= guard_->deaths;
        stage_ = Stage::queued;
        has_turn_ = true;
        return alone ? Next::wait_alone : Next::wait;
    }
    /// No suspect of another session is in the way.
    [[nodiscard]] AttemptSteps turn_came() noexcept {
        if (stage_ != Stage::queued) {
            return {};
        }
        return note(Stage::noting, deaths_ + 1);
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
    /// A message has left.
    [[nodiscard]] AttemptSteps gone() noexcept {
        return {.end_turn = stage_ == Stage::over && end_turn()};
    }
    /// The session is about to be given back: what is noted goes first.
    [[nodiscard]] AttemptSteps tidy() noexcept {
        AttemptSteps steps{};
        switch (std::exchange(stage_, Stage::none)) {
        case Stage::none:
        case Stage::queued: break;
        case Stage::noting:
        case Stage::running: steps = note(Stage::none, deaths_); break; // it never started
        case Stage::over: steps = note(Stage::none, 0); break;
        }
        steps.end_turn = end_turn();
        return steps;
    }
    /// Whether there was a turn to end, or one that was waited for.
    [[nodiscard]] bool end_turn() noexcept { return std::exchange(has_turn_, false); }

    /// The broker has not confirmed a change.
    [[nodiscard]] bool is_writing() const noexcept { return writing_ != 0; }

private:
    enum class Stage : std::uint8_t {
        none,
        queued, ///< waits for the turn
        noting, ///< waits for the broker's confirmation
        running,
        over, ///< the message leaves: its note can go
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
    std::uint32_t deaths_{0}; ///< of the suspect, before this attempt
    std::uint32_t writing_{0};
    Stage stage_{Stage::none};
    bool has_turn_{false}; ///< or it is asked for
};

} // namespace sessionq::processor
