// SPDX-License-Identifier: MIT
#include "broker/queue_pair.hpp"

namespace sessionq::broker {
namespace {

// About as long as the journal takes to write the changes that wait.
constexpr std::chrono::milliseconds pause_for_journal{2};

void tell(const std::vector<ForwardingLine::Done>& all) {
    for (const ForwardingLine::Done& done : all) {
        done();
    }
}

} // namespace

std::size_t QueuePair::most_copies() const {
    std::size_t copies = 1;
    if (kind() == EntityKind::topic) {
        for (const QueuePairPtr& subscription : directory_->subscriptions_of(*this)) {
            copies += subscription->rules()->most_copies();
        }
    }
    return copies;
}

std::optional<Failure> QueuePair::take(std::span<Arrival> arrivals, Instant at,
                                       filter::Work& work) {
    return perform(at, work, [&] {
        std::optional<Failure> not_taken;
        for (Arrival& arrival : arrivals) {
            if (auto failure = entity_.take(std::move(arrival))) {
                not_taken = std::move(failure);
            }
        }
        return not_taken;
    });
}

void QueuePair::advance(Instant at) {
    filter::Work work{steps_a_turn, true};
    perform(at, work, [] { return true; });
    bool must_forward = false;
    {
        const std::lock_guard lock{mutex_};
        must_forward = line_.resume();
    }
    if (must_forward) {
        forward(at, work);
    }
}

void QueuePair::shut_down(Instant at) {
    tell(perform(at, [this] {
        entity_.shut_down();
        dead_letter_entity_.shut_down();
        return line_.give_up();
    }));
}

bool QueuePair::when_forwarded(ForwardingLine::Done done) {
    if (line_.is_idle()) {
        return false;
    }
    const std::lock_guard lock{mutex_};
    return !entity_.state.is_shut_down && line_.await(std::move(done));
}

void QueuePair::forward(Instant at, filter::Work& work) {
    while (route_ || take_route()) {
        if (!route_->run(at, work)) {
            put_down(at);
            return;
        }
        end_route(at, work);
    }
}

bool QueuePair::take_route() {
    std::vector<Transit> messages;
    {
        const std::lock_guard lock{mutex_};
        messages = line_.take();
    }
    if (messages.empty()) {
        return false;
    }
    route_.emplace(*directory_, *this, std::move(messages));
    return true;
}

void QueuePair::put_down(Instant at) {
    std::optional<TimePoint> due_earlier;
    {
        const std::lock_guard lock{mutex_};
        const bool must_wait = journal_ && journal_->is_behind();
        line_.put_down(must_wait ? at.now + pause_for_journal : at.now);
        due_earlier = note_due();
    }
    if (due_earlier) {
        board_->offer(*due_earlier);
    }
}

void QueuePair::end_route(Instant at, filter::Work& work) {
    std::vector<Transit> messages = std::move(route_->messages());
    route_.reset();
    bool is_held = false;
    tell(perform(at, work, [&] {
        std::size_t ended = 0;
        for (Transit& transit : messages) {
            if (transit.is_held) {
                line_.hold(std::move(transit));
            } else {
                transit.from->end_transit(transit);
                ++ended;
            }
        }
        is_held = line_.holds_any();
        return line_.end(ended);
    }));
    if (is_held && directory_->has_begun()) { // it began in the meantime
        forward_held(at);
    }
}

void QueuePair::forward_held(Instant at) {
    {
        const std::lock_guard lock{mutex_};
        line_.release_held();
        if (!line_.begin()) {
            return;
        }
    }
    filter::Work work{steps_a_turn};
    forward(at, work);
}

} // namespace sessionq::broker
