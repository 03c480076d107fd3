// SPDX-License-Identifier: MIT
#include "processor/record_keeper.hpp"

#include <chrono>
#include <utility>

#include "processor/session_record.hpp"

namespace sessionq::processor {

Deadline RecordKeeper::deadline() const {
    return Deadline::after(view_.shared().environment.operation_timeout, view_.loop().now());
}

void RecordKeeper::read(Read done) {
    state_.read_record(deadline(),
                       [this, done = std::move(done)](const core::Result<std::string>& answer) {
                           if (answer.ok()) {
                               const SessionRecord record = SessionRecord::read(answer.value());
                               done(record.left(view_.shared().environment.clock->wall_now()));
                           } else {
                               view_.report(ErrorSource::session_record, answer.failure());
                               done(answer.failure());
                           }
                       });
}

void RecordKeeper::write(Duration delay, std::function<void()> done) {
    std::string bytes;
    if (delay != Duration::zero()) {
        const WallTime now = view_.shared().environment.clock->wall_now();
        bytes = SessionRecord{.not_before = now + std::chrono::ceil<WallTime::duration>(delay),
                              .delay = delay}
                    .write();
    }
    state_.write_record(std::move(bytes), deadline(),
                        [this, done = std::move(done)](const core::Result<core::Done>& answer) {
                            if (!answer.ok()) {
                                view_.report(ErrorSource::session_record, answer.failure());
                            }
                            done();
                        });
}

} // namespace sessionq::processor
