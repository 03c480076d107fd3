#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <sessionq/time.hpp>

namespace sessionq::faults {

/// What a consumer saw.
struct Event {
    enum class Kind : std::uint8_t {
        open,     ///< a session began
        begin,    ///< a handler started
        done,     ///< it returned
        failed,   ///< it threw
        trouble,  ///< a settlement of the session was refused or is unanswered
        intruder, ///< a message was settled although its lease had ended
        close,    ///< the session ended
        left,     ///< its processor was stopped, and not everything had ended by then
    };
    Kind kind{Kind::open};
    bool is_late{false};     ///< begin: the lease had ended. close: it was lost
    std::uint32_t holder{0}; ///< which processor; one that is started again is another
    std::uint32_t session{0};
    std::int64_t number{
        0}; ///< as the producer counts within the session, from 1. close, trouble: why, for people
    std::int64_t sequence{0}; ///< as the broker counts
    TimePoint at{};

    friend bool operator==(const Event&, const Event&) = default;
};

[[nodiscard]] std::string to_line(const Event& event);
/// Nothing of a line that is cut off. Throws std::runtime_error for what was never an event.
[[nodiscard]] std::vector<Event> read_events(const std::string& text);

/// Events in the order in which they happened in this process. Thread-safe.
class EventLog {
public:
    EventLog() = default;
    /// Also appended to the file, so that they outlive this process however it ends. Throws
    /// std::runtime_error.
    explicit EventLog(const std::string& file);
    ~EventLog();
    EventLog(const EventLog&) = delete;
    EventLog& operator=(const EventLog&) = delete;

    /// Stamps it and keeps it.
    void add(Event event);

    [[nodiscard]] std::vector<Event> events() const;
    /// How many handlers have returned.
    [[nodiscard]] std::size_t done() const;

private:
    mutable std::mutex mutex_;
    std::vector<Event> events_{};
    std::size_t done_{0};
    int file_{-1};
};

} // namespace sessionq::faults
