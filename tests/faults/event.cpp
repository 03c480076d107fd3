// SPDX-License-Identifier: MIT
#include "faults/event.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "core/clock.hpp"

namespace sessionq::faults {

std::string to_line(const Event& event) {
    std::ostringstream line;
    line << static_cast<int>(event.kind) << ' ' << event.is_late << ' ' << event.holder << ' '
         << event.session << ' ' << event.number << ' ' << event.sequence << ' '
         << event.at.time_since_epoch().count() << '\n';
    return line.str();
}

std::vector<Event> read_events(const std::string& text) {
    std::vector<Event> events;
    const std::string whole =
        text.substr(0, text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
    std::istringstream lines{whole};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        Event event;
        int kind = 0;
        Duration::rep at = 0;
        words >> kind >> event.is_late >> event.holder >> event.session >> event.number >>
            event.sequence >> at;
        if (!words || kind < 0 || kind > static_cast<int>(Event::Kind::left)) {
            throw std::runtime_error{"not an event: " + line};
        }
        event.kind = static_cast<Event::Kind>(kind);
        event.at = TimePoint{Duration{at}};
        events.push_back(event);
    }
    return events;
}

EventLog::EventLog(const std::string& file)
    : file_{::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)} {
    if (file_ < 0) {
        throw std::runtime_error{"cannot write '" + file + "'"};
    }
}

EventLog::~EventLog() {
    if (file_ >= 0) {
        ::close(file_);
    }
}

void EventLog::add(Event event) {
    const std::lock_guard lock{mutex_};
    event.at = core::system_clock().now();
    if (file_ < 0) {
        events_.push_back(event);
    } else if (const std::string line = to_line(event);
               ::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        std::perror("cannot write the event log");
        std::abort();
    }
    done_ += event.kind == Event::Kind::done ? 1 : 0;
}

std::vector<Event> EventLog::events() const {
    const std::lock_guard lock{mutex_};
    return events_;
}

std::size_t EventLog::done() const {
    const std::lock_guard lock{mutex_};
    return done_;
}

} // namespace sessionq::faults
