// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>

namespace replay {

/// A progress bar on standard error, drawn at most ten times a second. Draws nothing if standard
/// error is not a terminal.
class Progress {
public:
    Progress();
    /// Clears the bar's line.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// `fraction` from 0 to 1.
    void show(double fraction, std::uint64_t handled);

private:
    bool on_terminal_;
    std::chrono::steady_clock::time_point next_{};
};

} // namespace replay
