// SPDX-License-Identifier: MIT
#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

class ResourceOracle final : public Oracle {
public:
    ResourceOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void accepted(const AcceptRecord&, const LinkRecord&) override { ++held_; }
    void closing(const LinkRecord&) override { --held_; }
    void lost(const LinkRecord&) override { --held_; }

    /// Each held session may have one message. What is prefetched beyond that stays within the
    /// budget.
    void delivered(const DeliveryRecord& delivery) override {
        const std::size_t bound =
            expectations_.options.max_buffered_bytes + (held_ + slack) * delivery.bytes;
        if (environment_.buffered.bytes > bound) {
            environment_.verdict.report(
                "(i) buffers (R23)", std::to_string(environment_.buffered.bytes) +
                                         " bytes are buffered, the budget is " +
                                         std::to_string(expectations_.options.max_buffered_bytes));
        }
    }

    /// Credit is asked for within the prefetch of that instant. The first goes out with the accept.
    void credit_added(const LinkRecord& link) override {
        const TimePoint now = environment_.scheduler.now();
        const std::uint32_t most =
            expectations_.highest_prefetch(now == link.accepted ? link.asked : now, now);
        if (most != 0 && link.credit + link.in_flight > most && !expectations_.stalls_possible) {
            environment_.verdict.report("(i) prefetch",
                                        "link" + std::to_string(link.id) + " may have " +
                                            std::to_string(link.credit + link.in_flight) +
                                            " messages, the prefetch is " + std::to_string(most));
        }
    }

    void before_advance(TimePoint /*next*/) override {
        const std::size_t bound = 4 * std::size_t{expectations_.highest_sessions()} +
                                  expectations_.without_slot() + environment_.accepts.size() / 2 +
                                  8;
        if (environment_.live_links > bound) {
            environment_.verdict.report("(i) links",
                                        std::to_string(environment_.live_links) + " links exist");
        }
    }

    void at_end() override {
        if (environment_.live_links != 0) {
            environment_.verdict.report("(i) links", std::to_string(environment_.live_links) +
                                                         " links are left at the end");
        }
        if (environment_.buffered.messages != 0) {
            std::string which;
            for (const DeliveryRecord& delivery : environment_.deliveries) {
                if (delivery.present) {
                    which += " #" + std::to_string(delivery.message->sequence) + " on link" +
                             std::to_string(delivery.link->id);
                }
            }
            environment_.verdict.report("(i) messages",
                                        std::to_string(environment_.buffered.messages) +
                                            " messages are left at the end:" + which);
        }
    }

private:
    static constexpr std::size_t slack =
        72; // sizes are guessed from earlier messages, so the first credits are blind

    Environment& environment_;
    const Expectations& expectations_;
    std::size_t held_{0};
};

} // namespace

std::unique_ptr<Oracle> make_resource_oracle(Environment& environment,
                                             const Expectations& expectations) {
    return std::make_unique<ResourceOracle>(environment, expectations);
}

} // namespace sessionq::simulation
