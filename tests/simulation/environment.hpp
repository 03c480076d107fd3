// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulation/faults.hpp"
#include "simulation/oracle.hpp"
#include "simulation/scheduler.hpp"
#include "simulation/sim_broker.hpp"

namespace sessionq::simulation {

/// Counts the messages that the consumer keeps.
struct Buffered {
    const core::Clock* clock{nullptr};
    std::uint64_t messages{0};
    std::size_t bytes{0};
};

/// The content of one delivery. It knows its record and reports its destruction.
struct SimMessage final : DecodedContent {
    DeliveryRecord* record{nullptr};
    Buffered* buffered{nullptr};

    using DecodedContent::DecodedContent;
    ~SimMessage() override {
        record->present = false;
        --buffered->messages;
        buffered->bytes -= record->bytes;
        if (record->message->state == MessageState::removed) { // no settlement ends it
            --record->link->in_flight;
            record->link->idle_since = buffered->clock->now();
        }
    }

    [[nodiscard]] static DeliveryRecord& record_of(const ReceivedMessage& message) {
        return *static_cast<const SimMessage&>(*message.shared_content()).record;
    }
};

/// The calls that workers have taken, numbered in the order of the dispatcher's decisions. A worker
/// may be preempted before it runs a call, so an oracle of decisions compares numbers, not times.
class TakenCalls {
public:
    std::uint64_t take() {
        given_back_.push_back(never);
        return count();
    }
    void give_back(std::uint64_t call) { given_back_.at(call - 1) = count(); }
    [[nodiscard]] std::uint64_t count() const noexcept { return given_back_.size(); }

    /// When `later` was taken, the dispatcher had got `call` back.
    [[nodiscard]] bool was_back(std::uint64_t call, std::uint64_t later) const {
        return given_back_.at(call - 1) < later;
    }

private:
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    std::vector<std::uint64_t> given_back_{}; ///< how many had been taken then
};

/// What all parts of one simulated world share.
struct Environment {
    Environment(std::uint64_t seed, Trace trace)
        : scheduler{seed, std::move(trace)}, buffered{.clock = &scheduler} {}

    Scheduler scheduler;
    SimBroker broker{};
    Faults faults{};
    Duration lock_length{seconds{30}}; ///< zero: locks do not expire
    std::size_t message_bytes{200};
    bool busy{false}; ///< the broker refuses accepts at the moment
    Oracles oracles{};
    Verdict verdict{};

    std::deque<LinkRecord> links{};
    std::deque<DeliveryRecord> deliveries{};
    std::deque<AcceptRecord> accepts{};
    std::map<std::string, SentRecord, std::less<>> sent{}; ///< sent over wires, by message id
    std::map<std::string, ScheduledRecord, std::less<>> scheduled{}; ///< by message id
    std::deque<StateRecord> state_asks{};
    std::map<std::pair<std::string, std::int64_t>, LetterRecord> letters{}; ///< by entity, number
    std::optional<std::string> redrive_holds{}; ///< the session that a redrive holds
    TimePoint redrive_holds_since{};
    TimePoint redrive_holds_until{}; ///< unless it renews its lock
    Buffered buffered;
    std::uint64_t live_links{0};
    std::uint64_t handler_starts{0};
    TakenCalls taken_calls{};
    std::uint64_t handler_sends{0}; ///< under way

    /// A redrive has got a session, or gives it back. Others cannot have it meanwhile.
    void hold_for_redrive(const std::string& entity, const std::string& session, TimePoint asked) {
        redrive_holds = session;
        redrive_holds_since = scheduler.now();
        redrive_holds_until = asked + lock_length;
        BrokerSession& held = broker.obtain(entity, session);
        held.foreign = true;
        held.ready_since.reset();
    }
    void end_redrive_hold() {
        redrive_holds.reset();
        for (auto& [key, session] : broker.sessions()) {
            if (std::exchange(session.foreign, false) && session.holder == 0) {
                broker.unlock(session, scheduler.now());
            }
        }
    }
    /// No call knows anything of the dead letters any more.
    void end_redrive() {
        end_redrive_hold();
        for (auto& [key, letter] : letters) {
            letter.is_planned = letter.is_in_hand = letter.is_asked = letter.is_known = false;
        }
    }

    /// The consumer is killed: it has no link, no message and no handler any more, and every
    /// oracle is told.
    void consumer_died(const MessageRecord* killer) {
        tell(&Oracle::consumer_dies, killer);
        for (DeliveryRecord& delivery : deliveries) {
            if (std::exchange(delivery.present, false)) {
                --buffered.messages;
                buffered.bytes -= delivery.bytes;
            }
            delivery.running = 0;
        }
        for (LinkRecord& link : links) {
            live_links -= std::exchange(link.exists, false) ? 1 : 0;
            link.running = 0;
            if (std::exchange(link.held, false)) {
                link.lost = link.killed = true;
                link.ended = scheduler.now();
                tell(&Oracle::lost, link);
            }
        }
        for (AcceptRecord& accept : accepts) {
            if (!std::exchange(accept.answered, true) && !std::exchange(accept.cancelled, true)) {
                tell(&Oracle::accept_cancelled, accept);
            }
        }
        tell(&Oracle::consumer_killed);
    }

    /// Every state that a session had, oldest first.
    [[nodiscard]] std::vector<StateValue>& states_of(const std::string& entity,
                                                     const std::string& session) {
        std::vector<StateValue>& values = states_[{entity, session}];
        if (values.empty()) {
            values.push_back({.is_kept = true});
        }
        return values;
    }

    template <typename... Parameters, typename... Arguments>
    void tell(void (Oracle::*what)(Parameters...), Arguments&&... arguments) {
        oracles.tell(what, arguments...);
    }

    /// The text of a message with content.
    [[nodiscard]] std::string body_of(std::string_view message_id) const {
        std::string body{message_id};
        body.resize(std::max(body.size(), message_bytes), '.');
        return body;
    }

    /// The longest time before the end of a lock at which its holder stops.
    [[nodiscard]] Duration margin() const noexcept {
        return std::min<Duration>(lock_length / 10, seconds{2});
    }

    [[nodiscard]] bool chance(unsigned percent) {
        return percent != 0 && scheduler.chance(percent);
    }
    [[nodiscard]] Duration latency() {
        return scheduler.between(faults.latency_low, faults.latency_high);
    }

    /// The consumer broke a contract of the seam.
    void broken(std::string text) { verdict.report("port contract", std::move(text)); }

private:
    std::map<std::pair<std::string, std::string>, std::vector<StateValue>> states_{};
};

} // namespace sessionq::simulation
