// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>

#include "ports/enveloped_state.hpp"
#include "processor/session/session_record.hpp"
#include "processor/session/session_view.hpp"

namespace sessionq::processor {

/// Reads and writes the record of one session, as `RetryDelay` and `AttemptBook` decide, and tells
/// failures. Lives beside the session's link.
class RecordKeeper {
public:
    RecordKeeper(ports::EnvelopedState& state, const SessionView& view) noexcept
        : state_{state}, view_{view} {}

    using Read = std::function<void(const core::Result<std::optional<Duration>>&)>;
    /// How long the session is not to be handled. Unset: there is no record.
    void read(Read done);
    /// The session is not to be handled for so long. Zero: the record goes.
    void write(Duration delay, std::function<void()> done);
    void write(NotedAttempts attempts, std::function<void()> done);
    /// As it was read or written last.
    [[nodiscard]] NotedAttempts attempts() const noexcept { return record_.attempts; }

private:
    [[nodiscard]] Deadline deadline() const;
    void write(std::function<void()> done);

    ports::EnvelopedState& state_;
    const SessionView& view_;
    SessionRecord record_{};
};

} // namespace sessionq::processor
