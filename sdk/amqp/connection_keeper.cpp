// SPDX-License-Identifier: MIT
#include "amqp/connection_keeper.hpp"

#include <utility>

namespace sessionq::amqp {

ConnectionKeeper::WaitId ConnectionKeeper::add(Handler handler) {
    waiting_.emplace(++last_id_, std::move(handler));
    return last_id_;
}

ConnectionKeeper::Step ConnectionKeeper::next(TimePoint now) {
    if (phase_ != Phase::disconnected || waiting_.empty()) {
        return {};
    }
    if (now < not_before_) {
        return {.kind = Step::Kind::wait, .when = not_before_};
    }
    phase_ = Phase::connecting;
    down_since_ = down_since_.value_or(now);
    return {.kind = Step::Kind::connect, .host = host_};
}

ConnectionKeeper::Handlers ConnectionKeeper::opened(TimePoint now) {
    if (phase_ != Phase::connecting) {
        return {};
    }
    phase_ = Phase::open;
    opened_at_ = now;
    down_since_.reset();
    return take_waiting();
}

ConnectionKeeper::Handlers ConnectionKeeper::failed(TimePoint now) {
    if (phase_ != Phase::connecting) {
        return {};
    }
    phase_ = Phase::disconnected;
    host_ = (host_ + 1) % hosts_;
    if (host_ != 0) {
        return {};
    }
    not_before_ = now + backoff_.next(random_);
    return take_waiting();
}

void ConnectionKeeper::lost(TimePoint now) {
    if (phase_ != Phase::open) {
        return;
    }
    phase_ = Phase::disconnected;
    down_since_ = now;
    host_ = 0;
    if (now - opened_at_ >= lasting_) {
        backoff_.reset();
    }
    not_before_ = now + backoff_.next(random_);
}

ConnectionKeeper::Handlers ConnectionKeeper::close() {
    phase_ = Phase::closed;
    return take_waiting();
}

ConnectionKeeper::Handlers ConnectionKeeper::take_waiting() {
    Handlers taken;
    for (auto& [id, handler] : std::exchange(waiting_, {})) {
        taken.push_back(std::move(handler));
    }
    return taken;
}

} // namespace sessionq::amqp
