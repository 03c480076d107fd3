// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <sessionq/time.hpp>

namespace sessionq::faults {

/// Something that a consumer observed.
struct Event {
    enum class Kind : std::uint8_t {
        open,     ///< a session was opened
        begin,    ///< a handler started
        done,     ///< a handler returned
        failed,   ///< a handler threw
        trouble,  ///< a settlement failed or got no answer
        intruder, ///< a message was settled after its lock had ended
        close,    ///< a session was closed
        left,     ///< its processor stopped and left handlers behind
    };
    Kind kind{Kind::open};
    bool is_late{false};     ///< begin: the lock had ended. close: the lock was lost
    std::uint32_t holder{0}; ///< the processor; a restarted one has a new number
    std::uint32_t session{0};
    std::int64_t number{
        0}; ///< the producer's number within the session, from 1; for close and trouble the reason
    std::int64_t sequence{0}; ///< the broker's sequence number
    TimePoint at{};

    friend bool operator==(const Event&, const Event&) = default;
};

[[nodiscard]] std::string to_line(const Event& event);
/// Ignores an incomplete last line. Throws std::runtime_error at any other invalid line.
[[nodiscard]] std::vector<Event> read_events(const std::string& text);

/// Records events in the order of this process. Thread-safe.
class EventLog {
public:
    EventLog() = default;
    /// Also appends to a file, which survives a crash of this process. Throws std::runtime_error.
    explicit EventLog(const std::string& file);
    ~EventLog();
    EventLog(const EventLog&) = delete;
    EventLog& operator=(const EventLog&) = delete;

    /// Stamps and records the event.
    void add(Event event);

    [[nodiscard]] std::vector<Event> events() const;
    /// The number of handlers that have returned.
    [[nodiscard]] std::size_t done() const;

private:
    mutable std::mutex mutex_;
    std::vector<Event> events_{};
    std::size_t done_{0};
    int file_{-1};
};

} // namespace sessionq::faults
