// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h> // NOLINT: sigset_t

#include "tools/sessionq/live/live_subject.hpp"
#include "tools/sessionq/options.hpp"

namespace sessionq::cli {

/// Blocks the signals that a live screen waits for itself. Make it before any thread starts.
/// Afterwards they are as before.
class BlockedSignals {
public:
    BlockedSignals();
    ~BlockedSignals();
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

    [[nodiscard]] const sigset_t& set() const noexcept { return blocked_; }

private:
    sigset_t blocked_{};
    sigset_t before_{};
};

/// Throws UsageError if a screen is wanted and there is no terminal.
void check_terminal(const Shared& shared, const LiveOptions& options);

/// Shows the subject on a screen until a key or a signal ends it.
[[nodiscard]] int show_live(LiveSubject& subject, const LiveOptions& options,
                            const BlockedSignals& signals);

/// Prints looks: one as text or JSON (`options.once`), or one line of JSON a look without end.
[[nodiscard]] int print_looks(LiveSubject& subject, const Shared& shared,
                              const LiveOptions& options);

} // namespace sessionq::cli
