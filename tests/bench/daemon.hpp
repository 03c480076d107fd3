#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sessionq::bench {

/// A figure of a process as the kernel keeps it in /proc/PID/status, in its own unit (memory: KiB). Zero if there is none.
[[nodiscard]] long process_status(pid_t process, const std::string& name);
/// Processor time of a process, all its threads together.
[[nodiscard]] double processor_seconds(pid_t process);

/// A sessionqd of this build on loopback, with empty queues. Ends with the object.
class Daemon {
public:
    explicit Daemon(const std::vector<std::string>& queues);
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;
    ~Daemon();

    [[nodiscard]] pid_t process() const noexcept { return process_; }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::string connection_string() const;
    /// From its start to the line that says that it listens.
    [[nodiscard]] double start_seconds() const noexcept { return start_seconds_; }

private:
    pid_t process_{-1};
    std::uint16_t port_{0};
    double start_seconds_{0};
};

struct Finished {
    std::string output{}; ///< standard output; empty if it could not be run or failed
    double processor_seconds{0};
};
/// Runs a program to its end.
[[nodiscard]] Finished run(const std::vector<std::string>& command);

} // namespace sessionq::bench
