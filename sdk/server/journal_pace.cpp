// SPDX-License-Identifier: MIT
#include "server/journal_pace.hpp"

#include "timing/timer_service.hpp"

namespace sessionq::server {
namespace {

constexpr std::chrono::milliseconds look_again{2};

} // namespace

JournalPace::JournalPace(const broker::Journal* journal, core::EventLoop& loop,
                         core::TurnLine& turns)
    : journal_{journal},
      loop_{loop},
      turns_{turns},
      timer_{timing::Timer::calling<&JournalPace::go_on>(this)} {
    if (journal_ != nullptr) {
        turns_.set_pause([this] { return pauses(); });
    }
}

JournalPace::~JournalPace() { turns_.set_pause({}); }

bool JournalPace::pauses() {
    const TimePoint now = loop_.now();
    if (!journal_->is_behind() || (until_ && *until_ <= now)) {
        until_.reset();
        return false;
    }
    until_ = until_.value_or(now + longest);
    loop_.timers().arm(timer_, now + look_again);
    return true;
}

void JournalPace::go_on() { turns_.go_on(); }

} // namespace sessionq::server
