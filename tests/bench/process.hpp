// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace sessionq::bench {

/// Returns a figure of /proc/PID/status in its own unit (memory: KiB), or zero.
[[nodiscard]] long process_status(pid_t process, const std::string& name);
/// Returns the processor time of all threads of a process, or zero.
[[nodiscard]] double processor_seconds(pid_t process);

struct Finished {
    std::string output{}; ///< standard output; empty if the program failed or did not start
    double processor_seconds{0};
};
/// Runs a program, for two minutes at most.
[[nodiscard]] Finished run(const std::vector<std::string>& command);

} // namespace sessionq::bench
