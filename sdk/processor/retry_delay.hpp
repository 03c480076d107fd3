// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "processor/session_state.hpp"

namespace sessionq::processor {

/// Decides what is kept with a session so that a delayed retry survives (`retry_later`): when the
/// record of it is read, written and removed. What was never delivered before costs nothing.
class RetryDelay {
public:
    explicit RetryDelay(SessionState& session) noexcept : session_{session} {}

    /// A message was delivered before. True: the record is known, and no delay is left. False: it
    /// is asked for, once, and `answered` follows.
    [[nodiscard]] bool examine() {
        if (reading_ == Reading::never) {
            reading_ = Reading::asked;
            session_.add(SessionAction::Kind::read_record);
        }
        return reading_ == Reading::known;
    }
    /// Returns what is left of the delay. A record of one that is over is removed.
    [[nodiscard]] Duration answered(std::optional<Duration> delay) {
        reading_ = Reading::known;
        if (delay == Duration::zero()) {
            end();
        }
        return delay.value_or(Duration::zero());
    }

    /// Nothing of the session is to be handled until then, or until a later instant that was given.
    void begin(TimePoint until) {
        until_ = std::max(until_, until);
        write(until_ - session_.now);
    }
    /// The delay is over: its record goes.
    void end() {
        until_ = {};
        write(Duration::zero());
    }
    /// The broker has answered a `begin` or an `end`.
    void written() noexcept { writing_ -= writing_ != 0 ? 1 : 0; }

    /// The broker has not confirmed the record: the failed message stays here, and so the session.
    [[nodiscard]] bool is_writing() const noexcept { return writing_ != 0; }

private:
    enum class Reading : std::uint8_t { never, asked, known };

    void write(Duration delay) {
        ++writing_;
        session_.add({.kind = SessionAction::Kind::write_record, .delay = delay});
    }

    SessionState& session_;
    Reading reading_{Reading::never};
    TimePoint until_{}; ///< of messages that failed here
    std::uint32_t writing_{0};
};

} // namespace sessionq::processor
