#pragma once

#include <string_view>

#include "processor/session_machine.hpp"
#include "processor/slot_machine.hpp"

namespace sessionq::processor {

/// What a slot does and what it waits for, as `SlotDescription` shows it. Empty: it waits for
/// nothing, which R16 forbids an active slot.
struct SlotWords {
    std::string_view state{};
    std::string_view waits_for{};
};

/// What is known of a slot without a session.
struct VacancyFacts {
    SlotMachine::Phase phase{SlotMachine::Phase::vacant};
    bool names_sessions{false}; ///< only named sessions are taken, so that all of them may be held
    bool has_accept{false};     ///< an accept is under way
    bool has_timer{false};      ///< its timer is armed
};

/// What is known of a held session.
struct SessionFacts {
    SessionMachine::Phase phase{SessionMachine::Phase::working};
    bool retrying{false};  ///< a message waits for its next try
    bool in_flight{false}; ///< messages are
    bool settling{false};  ///< settlements are unanswered
    bool draining{false};  ///< a drain is unanswered
    bool expecting{false}; ///< messages may come, or the idle clock runs
};

[[nodiscard]] SlotWords words_for(const VacancyFacts& slot) noexcept;
[[nodiscard]] SlotWords words_for(const SessionFacts& session) noexcept;

} // namespace sessionq::processor
