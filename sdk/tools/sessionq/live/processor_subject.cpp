// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/processor_subject.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

#include "core/clock.hpp"
#include "tools/sessionq/live/bounded_json.hpp"
#include "tools/sessionq/live/processor_report.hpp"
#include "tools/sessionq/live/socket_document.hpp"

namespace sessionq::cli {

ProcessorSubject::ProcessorSubject(std::string socket) : socket_{std::move(socket)} {}

void ProcessorSubject::look(std::stop_token stop) {
    constexpr Duration longest_wait = std::chrono::seconds{10};
    try {
        std::string document = read_socket_document(socket_, longest_wait, stop);
        ProcessorSnapshot snapshot = parse_processor_snapshot(document);
        document_ = std::move(document);
        const TimePoint now = core::system_clock().now();
        recent_.add(snapshot.histograms, now);
        before_ = std::exchange(now_, Taken{std::move(snapshot), now});
    } catch (const std::runtime_error& error) {
        throw std::runtime_error{socket_ + ": " + error.what()};
    }
}

LiveReport ProcessorSubject::report() const {
    ProcessorChange change{.now = now_->snapshot};
    if (before_) {
        change.before = &before_->snapshot;
        change.seconds = std::chrono::duration<double>(now_->at - before_->at).count();
    }
    change.recent = recent_.recent();
    change.recent_seconds = std::chrono::duration<double>(recent_.length()).count();
    return report_of(change, socket_);
}

std::string ProcessorSubject::json() const { return line_of(*parse_bounded_json(document_)); }

} // namespace sessionq::cli
