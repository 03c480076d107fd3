// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <utility>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

class LeaseOracle final : public Oracle {
public:
    LeaseOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void accept_asked(const AcceptRecord& accept) override {
        const TimePoint now = environment_.scheduler.now();
        ++pending_;
        full_since_ = TimePoint::max(); // a slot is free
        const std::size_t at_entity = ++pending_at_[{accept.endpoint, accept.entity}];
        if (now > expectations_.stop_asked) {
            environment_.verdict.report("(h) stop", "an accept is asked for after stop");
        }
        // Sessions held since before a limit was lowered may still be leaving while the others
        // roll.
        const TimePoint changed = expectations_.limits.back().since;
        const bool surplus = std::any_of(held_.begin(), held_.end(), [&](const LinkRecord* link) {
            return link->accepted <= changed;
        });
        const std::uint32_t limit =
            surplus ? expectations_.highest_sessions()
                    : expectations_.highest(&Expectations::Limits::max_concurrent_sessions, now);
        if (in_slots() >= limit || at_entity > limit) {
            report("accept " + std::to_string(accept.id) + " makes " + std::to_string(at_entity) +
                   " asked for at " + accept.entity + " beside " + std::to_string(in_slots()) +
                   " held, the limit is " + std::to_string(limit));
        }
    }

    void accept_cancelled(const AcceptRecord& accept) override { ended(accept); }

    void accept_failed(const AcceptRecord& accept, const Failure&) override {
        if (!accept.cancelled) {
            ended(accept);
        }
    }

    void accepted(const AcceptRecord& accept, const LinkRecord& link) override {
        if (accept.cancelled) {
            late_.push_back(&link);
            return;
        }
        ended(accept);
        for (const LinkRecord* other : held_) {
            const BrokerSession* truth = environment_.broker.find(other->entity, other->session);
            if (other->session == link.session && other->entity == link.entity &&
                truth->holder == other->id && other->id < link.id && !link.overtaken) {
                report("session " + link.session + " is held by link" + std::to_string(other->id) +
                       " and link" + std::to_string(link.id));
            }
        }
        held_.push_back(&link);
        untaken_.push_back(&link);
    }

    void handler_started(const DeliveryRecord& delivery) override {
        for (const LinkRecord& other : environment_.links) {
            if (&other != delivery.link && other.running != 0 && !crossed(other, *delivery.link) &&
                other.session == delivery.link->session && other.entity == delivery.link->entity) {
                report("handlers of session " + other.session + " run on link" +
                       std::to_string(other.id) + " and link" + std::to_string(delivery.link->id));
            }
        }
    }

    void closing(const LinkRecord& link) override {
        const TimePoint now = environment_.scheduler.now();
        if (link.running != 0 && !lease_ending(link, now, environment_.margin()) &&
            now < expectations_.stop_deadline) {
            report("link" + std::to_string(link.id) + " of " + link.session +
                   " is given back while " + std::to_string(link.running) + " handlers run");
        }
        let_go(link);
        if (!link.taken && !link.late && expectations_.loops == 1 &&
            now <= expectations_.stop_asked && expectations_.looks_for_session()) {
            report("link" + std::to_string(link.id) + " of " + link.session +
                   " is given back although a slot is free");
        }
    }

    void lost(const LinkRecord& link) override { let_go(link); }

    void before_advance(TimePoint next) override {
        for (const LinkRecord* link : untaken_) {
            if (link->held && !link->taken) {
                report("link" + std::to_string(link->id) + " of " + link->session +
                       " is neither used nor given back at once");
            }
        }
        untaken_.clear();
        look_at_surplus(next);
        for (const LinkRecord* link : late_) {
            if (link->held) {
                environment_.verdict.report(
                    "(a) late accept (R19)",
                    "link" + std::to_string(link->id) + " of " + link->session +
                        " came after its accept was given up and is not released at once");
            }
        }
        late_.clear();
    }

private:
    /// Accepts do not stand for long while all slots hold sessions.
    void look_at_surplus(TimePoint next) {
        const TimePoint now = environment_.scheduler.now();
        if (pending_ == 0 || in_slots() < expectations_.highest_sessions()) {
            full_since_ = TimePoint::max();
        } else if (full_since_ == TimePoint::max()) {
            full_since_ = now;
        }
        if (full_since_ != TimePoint::max() && next - full_since_ > linger) {
            report(std::to_string(pending_) + " accepts stand although no slot is free");
        }
    }

    void let_go(const LinkRecord& link) {
        std::erase(held_, &link);
        if (in_slots() < expectations_.highest_sessions()) { // for an instant, it may be
            full_since_ = TimePoint::max();
        }
    }

    void ended(const AcceptRecord& accept) {
        --pending_;
        --pending_at_[{accept.endpoint, accept.entity}];
    }

    [[nodiscard]] std::size_t in_slots() const {
        return held_.size() - expectations_.without_slot();
    }

    /// The session was taken from its holder and accepted again before the holder could know.
    static bool crossed(const LinkRecord& before, const LinkRecord& after) {
        return before.held || before.ended > after.accepted;
    }

    void report(std::string text) {
        environment_.verdict.report("(a) leases and slots (R1, R7, R25)", std::move(text));
    }

    Environment& environment_;
    const Expectations& expectations_;
    static constexpr Duration linger = std::chrono::milliseconds{101};

    std::uint32_t pending_{0};
    std::map<std::pair<std::size_t, std::string>, std::uint32_t> pending_at_{};
    TimePoint full_since_{TimePoint::max()};
    std::vector<const LinkRecord*> held_;
    std::vector<const LinkRecord*> late_;
    std::vector<const LinkRecord*> untaken_;
};

} // namespace

std::unique_ptr<Oracle> make_lease_oracle(Environment& environment,
                                          const Expectations& expectations) {
    return std::make_unique<LeaseOracle>(environment, expectations);
}

} // namespace sessionq::simulation
