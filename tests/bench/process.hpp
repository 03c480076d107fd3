#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace sessionq::bench {

/// A figure of a process as the kernel keeps it in /proc/PID/status, in its own unit (memory: KiB).
/// Zero if there is none.
[[nodiscard]] long process_status(pid_t process, const std::string& name);
/// Processor time of a process, all its threads together. Zero if there is none.
[[nodiscard]] double processor_seconds(pid_t process);

struct Finished {
    std::string output{}; ///< standard output; empty if it could not be run or failed
    double processor_seconds{0};
};
/// Runs a program to its end, which comes after two minutes at the latest.
[[nodiscard]] Finished run(const std::vector<std::string>& command);

} // namespace sessionq::bench
