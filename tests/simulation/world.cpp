// SPDX-License-Identifier: MIT
#include "simulation/world.hpp"

#include <algorithm>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {

World::World(std::unique_ptr<Stage> stage, const Setup& setup)
    : setup_{setup}, stage_{std::move(stage)} {}

RunResult World::run() {
    begin();
    amid_trouble();
    if (!stop_asked_) {
        consume_the_rest();
    }
    stop();
    take_down();
    const RunResult result{.violation = environment().verdict.first(),
                           .steps = scheduler().steps(),
                           .handlers = environment().handler_starts,
                           .virtual_time = scheduler().elapsed()};
    if (!result.violation) {
        bury();
    }
    return result;
}

void World::begin() {
    expectations_.options = setup_.options;
    expectations_.batch = setup_.batches ? setup_.batches->max_messages : 1;
    expectations_.entities = setup_.entities;
    expectations_.workers = setup_.workers;
    expectations_.loops = setup_.loops;
    expectations_.faults_possible = true;
    expectations_.limits_change =
        setup_.limits_every > Duration::zero() || setup_.scripts.changes_limits != 0;
    expectations_.pauses = setup_.pauses_every > Duration::zero() || setup_.scripts.pauses != 0;
    expectations_.stop_is_quick = setup_.quiet;
    expectations_.states_for_suspects = setup_.scripts.uses_state == 0;
    expectations_.deferred_may_be_missing = setup_.network.cuts() || setup_.consumer_dies();
    expectations_.redrives_hold = setup_.redrives_hold;
    expectations_.detects_duplicates = setup_.detects_duplicates;
    expectations_.connects = stage_->connects();
    expectations_.aftermath = stage_->aftermath();
    expectations_.locks_last = setup_.locks_last;
    expectations_.stalls_possible = setup_.faults.stall_every > Duration::zero();
    expectations_.limits.push_back({
        .since = scheduler().now(),
        .max_concurrent_sessions = setup_.options.max_concurrent_sessions,
        .max_concurrent_calls_per_session = setup_.options.max_concurrent_calls_per_session,
        .max_concurrent_calls = setup_.options.max_concurrent_calls,
    });
    add_all_oracles(environment(), expectations_);

    expectations_.close_handler = setup_.close_handler;
    expectations_.without_slot = [this] {
        const auto described =
            processor() != nullptr ? processor()->describe_here() : ProcessorDescription{};
        return described.parked.size() + described.settling.size();
    };
    expectations_.looks_for_session = [this] {
        const auto slots = processor() != nullptr ? processor()->describe_here().slots
                                                  : std::vector<SlotDescription>{};
        return std::any_of(slots.begin(), slots.end(), [](const SlotDescription& slot) {
            return slot.state == "accepting" || slot.state == "vacant";
        });
    };
    scheduler().before_advance = [this](TimePoint next) {
        check_slots();
        environment().tell(&Oracle::before_advance, next);
    };
    start_consumer();
    stage_->open();
    processor()->start();
}

void World::start_consumer() {
    consumer_ = std::make_unique<Consumer>(*stage_, expectations_, setup_);
    Application& application = consumer_->application();
    application.mix = setup_.scripts;
    application.open_throws = setup_.open_throws;
    application.stop_from_inside = [this, self = consumer_.get()] {
        if (consumer_.get() == self && processor() != nullptr) { // a handler may outlive it
            ask_stop(true);
        }
    };
    application.endpoints = [this] { return stage_->endpoints(); };
    application.send_timeout = setup_.operation_timeout;
    application.change_limits = [this] { change_limits(); };
    application.switch_pause = [this] { switch_pause(); };
    application.after_handler = [this](const DeliveryRecord& delivery) { after_handler(delivery); };
    application.kill = [this, self = consumer_.get()](const MessageRecord& killer) {
        return kill_consumer(*self, &killer);
    };
    if (expectations_.calm_since != TimePoint::max()) {
        expectations_.calm_since = scheduler().now();
        calm(application);
    }
    consumer_->start(setup_.consumer_dies() ? nullptr : &spans_);
}

/// Handlers do nothing odd any more, but what kills the consumer goes on to do so.
void World::calm(Application& application) {
    application.let_go();
    application.mix = ScriptMix{};
    application.open_throws = 0;
}

/// From now on nothing of it runs. Its machine closes its connections, or not. Returns false if it
/// is not alive, or stopping.
bool World::kill_consumer(const Consumer& which, const MessageRecord* killer) {
    if (stop_asked_ || consumer_.get() != &which || found()) {
        return false;
    }
    scheduler().trace("the consumer is killed", killer != nullptr ? " by #" : "",
                      killer != nullptr ? std::to_string(killer->sequence) : "");
    consumer_->die();
    killed_.push_back(std::move(consumer_));
    environment().consumer_died(killer);
    stage_->kill_consumer();
    scheduler().after(scheduler().between(milliseconds{0}, setup_.dead_high), [this] {
        scheduler().trace("another consumer starts");
        stage_->revive_consumer();
        expectations_.paused.reset(); // the one before was, perhaps
        start_consumer();
        processor()->start();
    });
    return true;
}

/// Lets what was killed come to an end, so that it can be destroyed. Nothing is judged any more.
void World::bury() {
    environment().verdict.close();
    scheduler().before_advance = nullptr;
    if (killed_.empty()) {
        stage_->bury();
        return;
    }
    stage_->wind_up();
    for (const auto& consumer : killed_) {
        consumer->wind_up();
    }
    stage_->run(scheduler().now() + std::chrono::minutes{2},
                [this] { return std::ranges::all_of(killed_, &Consumer::is_empty); });
    for (const auto& consumer : killed_) {
        consumer->destroy();
    }
    stage_->run(scheduler().now() + seconds{1}, [] { return false; });
    stage_->bury();
    stage_->run(scheduler().now() + seconds{1}, [] { return false; });
}

void World::amid_trouble() {
    const TimePoint end = scheduler().now() + setup_.trouble_for;
    const auto repeat = [&](Duration mean, const std::function<void()>& what) {
        for (TimePoint when = scheduler().now(); mean > Duration::zero() && when < end;
             when += scheduler().between(milliseconds{1}, mean * 2)) {
            scheduler().at(when, what);
        }
    };
    repeat(setup_.limits_every, [this] { change_limits(); });
    repeat(setup_.pauses_every, [this] { switch_pause(); });
    repeat(setup_.deaths_every, [this] {
        if (consumer_) {
            kill_consumer(*consumer_, nullptr);
        }
    });
    if (setup_.stop_early) {
        scheduler().after(scheduler().between(milliseconds{0}, setup_.trouble_for / 2), [this] {
            if (processor() != nullptr) {
                ask_stop(false);
            }
        });
    }
    stage_->run(end, [this] { return stop_asked_; });
}

void World::consume_the_rest() {
    stage_->calm_down();
    if (consumer_) {
        calm(consumer_->application());
    }
    const TimePoint calm = scheduler().now();
    expectations_.calm_since = calm;
    if (expectations_.pauses) {
        pause_in_calm();
    }
    const auto all_consumed = [this] {
        return environment().broker.unfinished() == 0 && environment().handler_sends == 0 &&
               stage_->has_sent_all() && consumer_ != nullptr;
    };
    if (stage_->run(calm + std::chrono::minutes{20}, all_consumed) || found()) {
        return;
    }
    scheduler().trace(consumer_ ? processor()->describe_here().to_string() : "no consumer");
    if (!stage_->has_sent_all()) {
        environment().verdict.report("(j) sending",
                                     "a message is not confirmed long after the last fault");
    }
    environment().verdict.report("(c) loss",
                                 std::to_string(environment().broker.unfinished()) +
                                     " messages are not consumed long after the last fault");
}

void World::ask_stop(bool from_inside) {
    const TimePoint now = scheduler().now();
    const bool first = !std::exchange(stop_asked_, true);
    scheduler().trace("stop asked", from_inside ? " from a handler" : "");
    if (first) {
        expectations_.stop_asked = now;
        expectations_.stop_deadline = now + setup_.stop_within;
        environment().tell(&Oracle::stop_asked, expectations_.stop_deadline);
    } else if (!expectations_.stop_answered) {
        expectations_.stop_deadline =
            std::min(expectations_.stop_deadline, now + setup_.stop_within);
    }
    processor()->stop(Deadline::at(now + setup_.stop_within), [this](const StopReport& report) {
        if (std::exchange(expectations_.stop_answered, true)) {
            return;
        }
        scheduler().trace("stop answered: drained ", report.drained, " released ", report.released,
                          " left ", report.left);
        expectations_.handlers_left = report.left;
        environment().tell(&Oracle::stop_answered);
    });
}

void World::stop() {
    if (found()) {
        return;
    }
    if (!stop_asked_) {
        if (setup_.destroy_without_stop) { // destructors stop at once
            setup_.stop_within = Duration::zero();
        }
        ask_stop(false);
    }
    if (setup_.stop_twice) {
        scheduler().after(scheduler().between(milliseconds{0}, milliseconds{200}), [this] {
            if (processor() != nullptr) {
                setup_.stop_within /= scheduler().chance(50) ? 4 : 1;
                ask_stop(false);
            }
        });
    }
    const TimePoint bound = expectations_.stop_deadline + seconds{1};
    if (!stage_->run(bound, [this] { return expectations_.stop_answered; }) && !found()) {
        environment().verdict.report("(h) stop (R18)", "stop was never answered");
    }
}

void World::take_down() {
    if (found()) {
        return;
    }
    consumer_->application().let_go();
    stage_->calm_down();
    const auto never = [] { return false; };
    stage_->run(scheduler().now() + seconds{2}, never); // handlers that were left return
    // The default timeout of `SessionProcessor::stop`: once the handlers have returned, the rest
    // of a stop takes no longer.
    stage_->run(scheduler().now() + seconds{30}, [this] { return consumer_->is_empty(); });
    if (found()) {
        return;
    }
    if (!consumer_->is_empty()) {
        environment().verdict.report("(h) stop (R18)",
                                     "something of the processor is left after its last handler");
        return;
    }
    scheduler().trace("the processor is destroyed");
    scheduler().before_advance = nullptr;
    expectations_.stop_asked = std::min(expectations_.stop_asked, scheduler().now());
    expectations_.stop_deadline = std::min(expectations_.stop_deadline, scheduler().now());
    consumer_->destroy();
    stage_->run(scheduler().now() + seconds{10}, never);
    if (found()) {
        return;
    }
    stage_->close();
    check_lanes();
    spans_.check(environment().verdict, environment().handler_starts, setup_.batches.has_value());
    environment().tell(&Oracle::at_end);
}

void World::check_lanes() {
    const dispatch::Dispatcher& dispatcher = consumer_->dispatcher();
    if (dispatcher.active_calls() != 0 || dispatcher.ready_lanes() != 0) {
        environment().verdict.report("(i) lanes", std::to_string(dispatcher.ready_lanes()) +
                                                      " ready lanes and " +
                                                      std::to_string(dispatcher.active_calls()) +
                                                      " active calls are left at the end");
    }
}

void World::change_limits() {
    if (stop_asked_) {
        return;
    }
    core::Random& random = scheduler().random();
    Expectations::Limits all = expectations_.limits.back();
    all.since = scheduler().now();
    all.prefetch.reset();
    SessionProcessorLimits changed;
    if (!scheduler().chance(20)) { // else it stays as it is, and so do the others
        changed.max_concurrent_sessions = all.max_concurrent_sessions =
            static_cast<std::uint32_t>(1 + random.below(8));
    }
    if (!setup_.options.confirm_settlements && !scheduler().chance(20)) {
        changed.max_concurrent_calls_per_session = all.max_concurrent_calls_per_session =
            static_cast<std::uint32_t>(1 + random.below(3));
    }
    if (!scheduler().chance(20)) {
        changed.max_concurrent_calls = all.max_concurrent_calls =
            static_cast<std::uint32_t>(random.below(4));
    }
    if (scheduler().chance(30)) {
        changed.prefetch = all.prefetch = static_cast<std::uint32_t>(random.below(6));
    }
    expectations_.limits.push_back(all);
    scheduler().trace("limits: ", all.max_concurrent_sessions, " sessions, ",
                      all.max_concurrent_calls_per_session, " calls each, ",
                      all.max_concurrent_calls, " in all");
    processor()->update_limits(changed);
}

/// Seldom it asks for what is so already.
void World::switch_pause() {
    if (stop_asked_ || expectations_.calm_since != TimePoint::max()) {
        return;
    }
    if (expectations_.paused.has_value() == scheduler().chance(90)) {
        resume();
    } else {
        pause();
    }
}

void World::pause() {
    scheduler().trace("paused");
    if (!expectations_.paused) {
        expectations_.paused = scheduler().now();
    }
    processor()->pause();
}

void World::resume() {
    scheduler().trace("resumed");
    expectations_.paused.reset();
    processor()->resume();
}

/// A pause that lasts: it ends with nothing held. Then the processor resumes.
void World::pause_in_calm() {
    pause();
    stage_->run(scheduler().now() + std::chrono::minutes{5},
                [this] { return consumer_->application().running() == 0; });
    stage_->run(scheduler().now() + expectations_.pause_bound() + seconds{1}, [] { return false; });
    const ProcessorDescription description = processor()->describe_here();
    const bool all_paused =
        std::all_of(description.slots.begin(), description.slots.end(),
                    [](const SlotDescription& slot) { return slot.state == "paused"; });
    if (!all_paused || !description.parked.empty() || !description.settling.empty()) {
        environment().verdict.report("(p) pause",
                                     "it does not come to rest:\n" + description.to_string());
    }
    resume();
}

/// R16: a slot that claims to accept has an accept under way, and every slot waits for something.
void World::check_slots() {
    if (processor() == nullptr) {
        return;
    }
    const bool paused = processor()->state() == ProcessorDescription::State::paused;
    if (!paused && processor()->state() != ProcessorDescription::State::running) {
        return;
    }
    const ProcessorDescription description = processor()->describe_here();
    std::size_t accepting = 0;
    for (const SlotDescription& slot : description.slots) {
        accepting += slot.state == "accepting" ? 1 : 0;
        if (slot.session_id.empty() && (slot.state == "paused") != paused &&
            !expectations_.stalls_possible) {
            environment().verdict.report("(p) pause", "a slot without a session is in state '" +
                                                          slot.state + "', the processor is " +
                                                          (paused ? "paused" : "not"));
        }
        if (slot.waits_for.empty()) {
            environment().verdict.report("(R16) slots", "a slot in state '" + slot.state +
                                                            "' waits for nothing, session '" +
                                                            slot.session_id + "'");
        }
    }
    check_parked(description);
    check_settling(description);
    const auto& accepts = environment().accepts;
    const auto pending = std::count_if(accepts.begin(), accepts.end(), [](const AcceptRecord& a) {
        return !a.answered && !a.cancelled;
    });
    if (accepting != 0 && pending == 0) {
        environment().verdict.report("(R16) slots",
                                     std::to_string(accepting) +
                                         " slots say that they ask for a session, no accept is");
    }
}

/// R25: what only waits keeps no slot.
void World::check_parked(const ProcessorDescription& description) {
    if (description.parked.size() > setup_.options.max_parked_sessions) {
        environment().verdict.report(
            "(R25) parking", std::to_string(description.parked.size()) + " sessions are parked, " +
                                 std::to_string(setup_.options.max_parked_sessions) + " may be");
    }
    for (const SlotDescription& session : description.parked) {
        if (session.state == "parked" && session.running != 0) {
            environment().verdict.report("(R25) parking", "handlers of session '" +
                                                              session.session_id +
                                                              "' run without a slot");
        }
    }
    for (const SlotDescription& slot : description.slots) {
        // Beyond the limit a parked session keeps its slot.
        if (setup_.options.max_parked_sessions == SessionProcessorOptions{}.max_parked_sessions &&
            slot.state == "parked" && slot.running == 0 && slot.waits_for == "the end of parking") {
            environment().verdict.report("(R25) parking",
                                         "session '" + slot.session_id + "' keeps its slot");
        }
    }
}

/// R4: a session that will be left after its last answers keeps no slot, and no other one.
void World::check_settling(const ProcessorDescription& description) {
    const auto report = [this](const std::string& what) {
        environment().verdict.report("(R4) settling without a slot", what);
    };
    const TimePoint now = scheduler().now();
    const auto& links = environment().links;
    const auto is_of = [](const LinkRecord& link, const SlotDescription& session) {
        return link.held && link.session == session.session_id && link.entity == session.entity;
    };
    const auto has_link = [&](const SlotDescription& session, const auto& is_so) {
        return std::any_of(links.begin(), links.end(), [&](const LinkRecord& link) {
            return is_of(link, session) && link.running == 0 && is_so(link);
        });
    };
    const auto only_settles = [](const LinkRecord& link) {
        return link.in_flight != 0 && link.in_flight == link.settling;
    };
    const auto gets_nothing = [&](const LinkRecord& link) {
        return link.credit == 0 ||
               (link.draining && now >= *link.draining + expectations_.drain_bound);
    };
    if (description.settling.size() > expectations_.highest_sessions()) {
        report(std::to_string(description.settling.size()) + " sessions are held so");
    }
    const bool rolls_at_once = setup_.options.session_idle_timeout == Duration::zero();
    for (const SlotDescription& session : description.settling) {
        const bool for_record = session.waits_for == "the session's record";
        if (!has_link(session, [&](const LinkRecord& link) {
                return gets_nothing(link) &&
                       (for_record ? link.in_flight == 0 && link.state_asks != 0
                                   : only_settles(link));
            })) {
            report("session '" + session.session_id + "' waits for more than answers");
        }
        if (!rolls_at_once && !expectations_.leaves_for_more_than_idleness(now)) {
            report("session '" + session.session_id + "' was not idle yet");
        }
    }
    if (!description.settling.empty()) {
        last_settling_ = now;
    }
    // Within an instant others may have been settling and gone.
    const auto had_room = [&](const LinkRecord& link) {
        const TimePoint since = std::max(link.settle_asked, link.drained);
        return link.shown_empty && since > last_settling_ &&
               std::none_of(links.begin(), links.end(),
                            [since](const LinkRecord& other) { return other.ended == since; });
    };
    const bool must_free = rolls_at_once && !expectations_.limits_change && !setup_.close_handler &&
                           environment().faults.latency_low > Duration::zero();
    for (const SlotDescription& slot : description.slots) {
        const bool has_one_link =
            std::count_if(links.begin(), links.end(),
                          [&](const LinkRecord& link) { return is_of(link, slot); }) == 1;
        if (must_free && has_one_link && slot.state == "open" &&
            has_link(slot, [&](const LinkRecord& link) {
                return only_settles(link) && had_room(link);
            })) {
            report("session '" + slot.session_id + "' keeps its slot");
        }
    }
}

void World::after_handler(const DeliveryRecord& delivery) {
    if (!setup_.ties || !scheduler().chance(50) || environment().broker.messages().size() > 400 ||
        expectations_.calm_since != TimePoint::max()) {
        return;
    }
    const Duration idle = setup_.options.session_idle_timeout;
    const Duration settle = scheduler().between(environment().faults.latency_low * 2,
                                                environment().faults.latency_high * 2);
    stage_->send_for(*delivery.link, scheduler().now() + settle + idle);
}

} // namespace sessionq::simulation
