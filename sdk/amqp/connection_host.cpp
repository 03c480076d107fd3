// SPDX-License-Identifier: MIT
#include "amqp/connection_host.hpp"

#include "timing/timer_service.hpp"

namespace sessionq::amqp {

ConnectionHost::ConnectionHost(core::EventLoop& loop, asio::io_context& io)
    : loop_{loop},
      io_{io},
      turns_{loop},
      connects_{loop},
      idle_{loop.now()},
      timer_{timing::Timer::calling<&ConnectionHost::look>(this)} {}

ConnectionHost::~ConnectionHost() { loop_.timers().cancel(timer_); }

void ConnectionHost::watch(Watched& watched) {
    idle_.add(watched, loop_.now());
    arm();
}

void ConnectionHost::set_idle(Watched& watched, timing::IdleKind kind, Duration idle) {
    idle_.set_idle(watched, kind, idle);
    arm();
}

// Activity only delays the next wake-up, so a timer that is early finds nothing.
void ConnectionHost::arm() {
    const auto next = idle_.next_wakeup();
    if (next && (!timer_.is_armed() || *next < timer_.due())) {
        loop_.timers().arm(timer_, *next);
    }
}

void ConnectionHost::look() {
    idle_.advance(loop_.now(), [](timing::IdleEntry& entry, timing::IdleKind kind) {
        static_cast<Watched&>(entry).on_idle(kind);
    });
    arm();
}

} // namespace sessionq::amqp
