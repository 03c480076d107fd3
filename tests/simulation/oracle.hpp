// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/redrive.hpp>

#include "simulation/records.hpp"

namespace sessionq::simulation {

struct Violation {
    std::string oracle{};
    std::string text{};
};

/// Takes what the oracles find. The first violation counts.
class Verdict {
public:
    void report(std::string_view oracle, std::string text) {
        if (!first_ && !closed_) {
            first_.emplace(Violation{std::string{oracle}, std::move(text)});
        }
    }
    [[nodiscard]] const std::optional<Violation>& first() const noexcept { return first_; }
    /// Ignores what comes from now on.
    void close() noexcept { closed_ = true; }

private:
    bool closed_{false};
    std::optional<Violation> first_{};
};

/// One rule that must hold in every run. It is told of each event, right after the records are
/// updated. It must not act.
class Oracle {
public:
    virtual ~Oracle() = default;

    virtual void accept_asked(const AcceptRecord&) {}
    virtual void accept_cancelled(const AcceptRecord&) {}
    virtual void accept_failed(const AcceptRecord&, const Failure&) {}
    virtual void accepted(const AcceptRecord&, const LinkRecord&) {}

    virtual void credit_added(const LinkRecord&) {}
    virtual void delivered(const DeliveryRecord&) {}
    virtual void settle_asked(const DeliveryRecord&, ports::Outcome) {}
    virtual void settle_answered(const DeliveryRecord&, const Failure*) {}
    virtual void drain_answered(const LinkRecord&) {}
    virtual void closing(const LinkRecord&) {} ///< by close() or by its destructor
    virtual void lost(const LinkRecord&) {}
    virtual void state_asked(const LinkRecord&) {} ///< by the processor or by a handler

    /// By a handler of `killer`; null: from outside. Its handlers count as running still, and its
    /// links as held.
    virtual void consumer_dies(const MessageRecord* /*killer*/) {}
    virtual void consumer_killed() {} ///< its links are lost, no handler runs any more

    virtual void batch_started(const std::vector<DeliveryRecord*>&) {} ///< before its messages
    virtual void handler_started(const DeliveryRecord&) {} ///< once for each message, in order
    virtual void handler_finished(const DeliveryRecord&, bool /*threw*/) {}

    virtual void message_taken(const SentRecord&) {}    ///< by the broker
    virtual void message_vanished(const SentRecord&) {} ///< the broker ended before it was stored
    virtual void send_confirmed(const SentRecord&) {}
    virtual void send_failed(const SentRecord&) {} ///< by its only attempt

    virtual void state_taken(const StateRecord& /*write*/) {} ///< by the broker
    virtual void state_answered(const StateRecord&, const Failure*) {}

    virtual void schedule_taken(const ScheduledRecord&) {} ///< by the broker
    virtual void schedule_confirmed(const ScheduledRecord&, std::int64_t /*sequence*/) {}
    virtual void schedule_due(const ScheduledRecord&, const ScheduledRecord::Copy&) {
    } ///< it is available at the broker now
    virtual void cancel_answered(const ScheduledRecord&, std::int64_t /*sequence*/,
                                 bool /*found*/) {}

    virtual void copy_asked(const LetterRecord&) {}    ///< a redrive sends it
    virtual void copy_taken(const LetterRecord&) {}    ///< by the broker; `copy` is the one before
    virtual void removal_asked(const LetterRecord&) {} ///< by a redrive
    virtual void letter_gone(const LetterRecord&) {}
    virtual void redrive_leaves(const std::string& /*session*/) {}
    virtual void redrive_done(const RedriveReport&) {}

    virtual void deferred_received(const LinkRecord&, const std::vector<MessageRecord*>& /*wanted*/,
                                   const std::vector<const ReceivedMessage*>&) {}
    virtual void deferred_refused(const LinkRecord&, const std::vector<MessageRecord*>& /*wanted*/,
                                  const Failure&) {}
    virtual void deferred_settled(const MessageRecord&, ports::Outcome) {} ///< confirmed
    virtual void deferred_gone(const MessageRecord&) {}                    ///< from the broker

    virtual void before_advance(TimePoint /*next*/) {} ///< nobody can act before `next`
    virtual void faults_ended() {}
    virtual void stop_asked(TimePoint /*deadline*/) {}
    virtual void stop_answered() {}
    virtual void at_end() {} ///< stopped and torn down
};

/// Forwards each event to all oracles.
class Oracles {
public:
    void add(std::unique_ptr<Oracle> oracle) { all_.push_back(std::move(oracle)); }

    template <typename... Parameters, typename... Arguments>
    void tell(void (Oracle::*what)(Parameters...), Arguments&&... arguments) {
        for (const auto& oracle : all_) {
            ((*oracle).*what)(arguments...);
        }
    }

private:
    std::vector<std::unique_ptr<Oracle>> all_;
};

} // namespace sessionq::simulation
