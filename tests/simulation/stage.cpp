// SPDX-License-Identifier: MIT
#include "simulation/stage.hpp"

#include <algorithm>

namespace sessionq::simulation {
namespace {

std::string session_name(const std::string& entity, std::size_t number) {
    return entity + "-s" + std::to_string(number);
}

} // namespace

Stage::Stage(std::uint64_t seed, Trace trace, const Setup& setup)
    : setup_{setup}, environment_{seed, std::move(trace)} {
    environment_.faults = setup.faults;
    environment_.message_bytes = setup.message_bytes;
    environment_.lock_length = setup.lock_length;
    for (std::size_t i = 0; i < setup.entities; ++i) {
        entities_.push_back("e" + std::to_string(i));
    }
    add_loops();
    scheduler().before_advance = [this](TimePoint next) {
        environment_.tell(&Oracle::before_advance, next);
    };
}

void Stage::add_loops() {
    for (std::size_t i = 0; i < setup_.loops; ++i) {
        loops_.push_back(std::make_unique<SimLoop>(environment_.scheduler, static_cast<int>(i)));
        loops_.back()->weight = 1 + static_cast<std::uint32_t>(scheduler().random().below(6));
    }
}

void Stage::kill_consumer() {
    for (auto& loop : loops_) {
        scheduler().remove(*loop);
        dead_loops_.push_back(std::move(loop));
    }
    loops_.clear();
}

void Stage::revive_consumer() { add_loops(); }

void Stage::wind_up() {
    for (const auto& loop : dead_loops_) {
        scheduler().add(*loop);
    }
}

void Stage::open() {
    for (std::size_t i = 0; i < std::min(setup_.foreign, setup_.sessions); ++i) {
        const std::string name = session_name(entities_.front(), i);
        send(entities_.front(), name);
        hold_foreign(entities_.front(), name);
        BrokerSession& session = environment_.broker.obtain(
            entities_.front(), name); // its message may still be under way
        session.foreign = true;
        session.ready_since.reset();
    }
    send_all();
    make_trouble();
    repeat(setup_.faults.stall_every, [this] {
        if (loops_.empty()) {
            return;
        }
        loops_[scheduler().random().below(loops_.size())]->stall_until(
            scheduler().now() + scheduler().between(milliseconds{1}, setup_.faults.stall_high));
    });
}

void Stage::send_all() {
    const auto send_later = [this](const std::string& entity, const std::string& session) {
        const Duration when = scheduler().between(milliseconds{0}, setup_.arrivals_over);
        scheduler().after(when, [this, entity, session] { send(entity, session); });
    };
    for (const std::string& entity : entities_) {
        for (std::size_t i = 0; i < setup_.sessions; ++i) {
            const std::size_t count = 1 + scheduler().random().below(setup_.messages);
            for (std::size_t n = 0; n < count; ++n) {
                send_later(entity, session_name(entity, i));
            }
        }
    }
    for (std::size_t n = 0; n < setup_.huge_messages; ++n) {
        send(entities_.front(), "huge");
    }
}

void Stage::repeat(Duration mean, std::function<void()> what) {
    if (mean <= Duration::zero()) {
        return;
    }
    const Duration pause = scheduler().between(milliseconds{1}, mean * 2);
    scheduler().after(pause, [this, mean, what = std::move(what)] {
        if (troubled_) {
            what();
            repeat(mean, what);
        }
    });
}

void Stage::calm_down() {
    troubled_ = false;
    const Duration low = std::min(setup_.faults.latency_low, Duration{milliseconds{1}});
    environment_.faults =
        Faults{.latency_low = low,
               .latency_high = std::min(setup_.faults.latency_high, Duration{milliseconds{5}})};
    for (auto& [key, session] : environment_.broker.sessions()) {
        if (session.foreign) {
            session.foreign = false;
            environment_.broker.unlock(session, scheduler().now());
        }
    }
    mend();
    environment_.tell(&Oracle::faults_ended);
}

void Stage::close() {
    for (const auto& loop : loops_) {
        check_timers(*loop);
    }
}

void Stage::check_timers(SimLoop& loop) {
    if (loop.timers().size() != 0) {
        environment_.verdict.report("(i) timers", std::to_string(loop.timers().size()) +
                                                      " timers are left at the end of " +
                                                      loop.name());
    }
}

void Stage::send_for(const LinkRecord& link, TimePoint when) {
    // With the usual latency of the wire some messages hit the tick and others its neighbours.
    const TimePoint leave = when - scheduler().between(environment_.faults.latency_low,
                                                       environment_.faults.latency_high);
    scheduler().at(leave,
                   [this, entity = link.entity, session = link.session] { send(entity, session); });
}

bool Stage::run(TimePoint end, const std::function<bool()>& done) {
    while (!environment_.verdict.first()) {
        if (done()) {
            return true;
        }
        if (scheduler().now() >= end) {
            return false;
        }
        if (scheduler().steps() > setup_.most_steps) {
            environment_.verdict.report("(g) attempts", "the run does not come to rest within " +
                                                            std::to_string(setup_.most_steps) +
                                                            " steps");
        }
        if (!scheduler().step()) {
            return done();
        }
    }
    return false;
}

} // namespace sessionq::simulation
