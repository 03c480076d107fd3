// SPDX-License-Identifier: MIT
#include "simulation/redriving.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::simulation {
namespace {

constexpr int first_redrive = 400; // loops of other parts have other numbers

} // namespace

void Redriving::begin() {
    // What a killed call has sent arrives before the next one looks for it.
    around_.environment->scheduler.after(
        around_.environment->scheduler.between(seconds{1}, seconds{3}), [this] {
            if (is_closed_) {
                return;
            }
            if (is_done()) {
                begin();
            } else {
                call();
            }
        });
}

bool Redriving::is_done() const {
    return !now_ && std::ranges::all_of(around_.environment->letters,
                                        [](const auto& each) { return each.second.is_removed; });
}

RedrivingClient::Terms Redriving::some_terms() {
    Scheduler& scheduler = around_.environment->scheduler;
    RedriveOptions options{.max_wait = scheduler.between({}, seconds{5})};
    options.hold_sessions = setup_.redrives_hold;
    options.max_messages = scheduler.chance(20) ? 1 + scheduler.random().below(5) : 0;
    if (scheduler.chance(20)) {
        const auto& letters = around_.environment->letters;
        const auto which = scheduler.random().below(letters.size());
        options.filter.session_id =
            std::next(letters.begin(), static_cast<std::ptrdiff_t>(which))->second.session;
    }
    return {.entity = around_.entity,
            .options = std::move(options),
            .fit = scheduler.chance(50) ? 100 : 1 + scheduler.random().below(3),
            .dies = [this] { return dies(); },
            .pauses = [this] { return some_pause(); }};
}

bool Redriving::dies() {
    if (!is_troubled_ || setup_.redrive_deaths_every == Duration::zero() ||
        !around_.environment->scheduler.chance(10)) {
        return false;
    }
    kill();
    return true;
}

/// Sometimes long enough to lose a lock.
Duration Redriving::some_pause() {
    Scheduler& scheduler = around_.environment->scheduler;
    return is_troubled_ && setup_.redrives_pause && scheduler.chance(10)
               ? scheduler.between(milliseconds{1}, setup_.lock_length * 2)
               : Duration::zero();
}

void Redriving::call() {
    around_.environment->scheduler.trace("a redrive begins");
    const auto number = static_cast<int>(ended_.size() + dead_.size());
    now_ = std::make_unique<Process>(Process{
        .loop = std::make_unique<SimLoop>(around_.environment->scheduler, first_redrive + number)});
    Process& process = *now_;
    process.client = std::make_unique<RedrivingClient>(
        *around_.environment, some_terms(), around_.connect(*process.loop), [this, &process] {
            process.client.reset();
            if (now_.get() == &process) {
                ended_.push_back(std::move(now_));
            }
            begin();
        });
    process.loop->post([&process] { process.client->begin(); });
}

void Redriving::kill() {
    if (!now_) {
        return;
    }
    Environment& environment = *around_.environment;
    environment.scheduler.trace("the redrive is killed");
    environment.scheduler.remove(*now_->loop);
    environment.end_redrive();
    dead_.push_back(std::move(now_));
    around_.cut();
    begin();
}

void Redriving::close() {
    is_closed_ = true;
    if (now_) {
        around_.environment->end_redrive();
        ended_.push_back(std::move(now_));
        ended_.back()->loop->post([process = ended_.back().get()] { process->client.reset(); });
    }
}

std::vector<SimLoop*> Redriving::loops() const {
    std::vector<SimLoop*> all;
    for (const auto& each : ended_) {
        all.push_back(each->loop.get());
    }
    return all;
}

void Redriving::bury() {
    for (const auto& each : dead_) {
        each->loop->run_now([&each] { each->client.reset(); });
    }
    dead_.clear();
}

} // namespace sessionq::simulation
