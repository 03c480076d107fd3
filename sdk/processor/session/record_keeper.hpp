// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>

#include "ports/enveloped_state.hpp"
#include "processor/session/session_record.hpp"
#include "processor/session/session_view.hpp"

namespace sessionq::detail::processor {

/// Reads and writes the record of one session at the broker, as `RetryDelay` and `AttemptBook`
/// decide. `SessionDriver` owns it and calls it for each step that concerns the record. It reports
/// failures to the application.
class RecordKeeper {
public:
    RecordKeeper(ports::EnvelopedState& state, const SessionView& view) noexcept
        : state_{state}, view_{view} {}

    using Read = std::function<void(const core::Result<std::optional<Duration>>&)>;
    /// Reads the record. `done` gets the rest of the delay; unset: there is none.
    void read(Read done);
    /// Writes a delay that begins now. Zero removes the delay.
    void write(Duration delay, std::function<void()> done);
    void write(NotedAttempts attempts, std::function<void()> done);
    /// The attempts that were read or written last.
    [[nodiscard]] NotedAttempts attempts() const noexcept { return record_.attempts; }

private:
    [[nodiscard]] Deadline deadline() const;
    void write(std::function<void()> done);

    ports::EnvelopedState& state_;
    const SessionView& view_;
    SessionRecord record_{};
};

} // namespace sessionq::detail::processor
