// SPDX-License-Identifier: MIT
#include "processor/session/record_keeper.hpp"

#include <chrono>
#include <utility>

#include "processor/session/session_record.hpp"

namespace sessionq::detail::processor {

Deadline RecordKeeper::deadline() const {
    return Deadline::after(view_.shared().environment.operation_timeout, view_.loop().now());
}

void RecordKeeper::read(Read done) {
    state_.read_record(deadline(),
                       [this, done = std::move(done)](const core::Result<std::string>& answer) {
                           if (answer.ok()) {
                               record_ = SessionRecord::read(answer.value());
                               done(record_.left(view_.shared().environment.clock->wall_now()));
                           } else {
                               view_.report(ErrorSource::session_record, answer.failure());
                               done(answer.failure());
                           }
                       });
}

void RecordKeeper::write(Duration delay, std::function<void()> done) {
    record_.delay = delay;
    record_.not_before = {};
    if (delay != Duration::zero()) {
        record_.not_before = view_.shared().environment.clock->wall_now() +
                             std::chrono::ceil<WallTime::duration>(delay);
    }
    write(std::move(done));
}

void RecordKeeper::write(NotedAttempts attempts, std::function<void()> done) {
    record_.attempts = attempts;
    write(std::move(done));
}

void RecordKeeper::write(std::function<void()> done) {
    state_.write_record(record_.write(), deadline(),
                        [this, done = std::move(done)](const core::Result<core::Done>& answer) {
                            if (!answer.ok()) {
                                view_.report(ErrorSource::session_record, answer.failure());
                            }
                            done();
                        });
}

} // namespace sessionq::detail::processor
