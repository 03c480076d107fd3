// SPDX-License-Identifier: MIT
#include "broker/route.hpp"

#include <algorithm>
#include <utility>

#include "broker/queue_pair.hpp"

namespace sessionq::broker {
namespace {

constexpr std::uint64_t steps_an_arrival = 1000;
constexpr std::uint64_t steps_a_selection = 64;
// They arrive under one lock.
constexpr std::size_t most_arrivals_at_once = 256;
// Copies that actions have made count nowhere before they arrive.
constexpr std::size_t most_made_at_once = std::size_t{1} << 20U;

} // namespace

Route::Route(Directory& directory, const QueuePair& source, std::vector<Transit> messages)
    : directory_{directory},
      is_topic_{source.kind() == EntityKind::topic},
      messages_{std::move(messages)} {
    if (is_topic_) {
        subscriptions_ = directory.subscriptions_of(source);
        candidates_.reserve(messages_.size());
        for (const Transit& transit : messages_) {
            candidates_.emplace_back(transit.message.content);
        }
    }
}

bool Route::run(Instant at, filter::Work& work) {
    if (!directory_.has_begun()) { // the destinations may not exist yet
        for (Transit& transit : messages_) {
            transit.is_held = true;
        }
        return true;
    }
    return is_topic_ ? publish(at, work) : forward(at, work);
}

bool Route::must_wait() const noexcept {
    const Journal* const journal = directory_.journal();
    return journal != nullptr && journal->is_behind();
}

bool Route::publish(Instant at, filter::Work& work) {
    for (; subscription_ < subscriptions_.size(); ++subscription_, message_ = 0) {
        QueuePair& subscription = *subscriptions_[subscription_];
        for (; message_ < messages_.size(); ++message_) {
            if (arrivals_.empty() && must_wait()) {
                return false;
            }
            if (!select(subscription, work)) {
                arrive(subscription, at, work);
                return false;
            }
            if (arrivals_.size() >= most_arrivals_at_once || made_ >= most_made_at_once) {
                arrive(subscription, at, work);
            }
        }
        arrive(subscription, at, work);
    }
    return true;
}

bool Route::select(const QueuePair& subscription, filter::Work& work) {
    const Transit& transit = messages_[message_];
    if (std::ranges::find(transit.forwarded_to, subscription.ids().queue) !=
        transit.forwarded_to.end()) {
        return true; // it received the message before the restart
    }
    if (!selection_) {
        if (!work.begin(steps_a_selection)) {
            return false;
        }
        work.add(steps_a_selection);
        selection_ = subscription.rules()->select();
    }
    if (!selection_->run(candidates_[message_], work)) {
        return false;
    }
    for (RuleSelection::Copy& copy : selection_->copies()) {
        Arrival& arrival = arrivals_.emplace_back(transit.message);
        if (copy.is_changed) {
            arrival.unchanged = std::exchange(arrival.content, std::move(copy.content));
        }
        arrival.is_too_large = copy.is_too_large;
    }
    made_ += selection_->made();
    selection_.reset();
    return true;
}

void Route::arrive(QueuePair& subscription, Instant at, filter::Work& work) {
    if (!arrivals_.empty()) {
        work.add(arrivals_.size() * steps_an_arrival);
        subscription.take(arrivals_, at, work); // it dead-letters rejected messages
        arrivals_.clear();
        made_ = 0;
    }
}

bool Route::forward(Instant at, filter::Work& work) {
    for (; message_ < messages_.size(); ++message_) {
        if (must_wait() || !work.begin(steps_an_arrival)) {
            return false;
        }
        work.add(steps_an_arrival);
        forward(messages_[message_], at, work);
    }
    return true;
}

void Route::forward(Transit& transit, Instant at, filter::Work& work) {
    if (transit.message.hops >= max_hops) {
        transit.failed_with = {.reason = "MaxTransferHopCountExceeded",
                               .description = "forwarded " + std::to_string(max_hops) +
                                              " times, which is the limit"};
        return;
    }
    const std::string& name = transit.from->destination();
    const QueuePairPtr destination = directory_.find(name);
    Arrival arrival = transit.message;
    ++arrival.hops;
    const auto failure =
        destination ? destination->take({&arrival, 1}, at, work)
                    : std::optional{Failure{.code = Errc::entity_not_found,
                                            .detail = "there is no entity '" + name + "'"}};
    if (failure) {
        transit.failed_with = describe_transit_failure(*failure);
    }
}

} // namespace sessionq::broker
