// SPDX-License-Identifier: MIT
#include <map>
#include <set>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// A handler gets the deferred messages that it asks for, in that order, all or none. One that was
/// completed does not come again, and no other one goes. One that is there and that nobody has is
/// found.
class DeferredOracle final : public Oracle {
public:
    DeferredOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void deferred_received(const LinkRecord& link, const std::vector<MessageRecord*>& wanted,
                           const std::vector<const ReceivedMessage*>& got) override {
        if (got.size() != wanted.size()) {
            report(*wanted.front(), "comes with " + std::to_string(got.size()) + " of " +
                                        std::to_string(wanted.size()) + " messages");
            return;
        }
        for (std::size_t i = 0; i < got.size(); ++i) {
            const MessageRecord& record = *wanted[i];
            if (got[i]->sequence_number() != record.sequence ||
                got[i]->session_id() != record.session ||
                got[i]->text() != environment_.body_of(got[i]->message_id())) {
                report(record, "is not what came");
            }
            if (completed_.contains(&record)) {
                report(record, "comes again after it was completed");
            }
            holders_[&record] = &link;
        }
    }

    void deferred_refused(const LinkRecord& link, const std::vector<MessageRecord*>& wanted,
                          const Failure& failure) override {
        if (failure.code != Errc::message_not_found || expectations_.deferred_may_be_missing) {
            return;
        }
        for (const MessageRecord* each : wanted) {
            const auto holder = holders_.find(each);
            if (each->deferred_gone || (holder != holders_.end() && holder->second == &link)) {
                return;
            }
        }
        report(*wanted.front(), "and what was asked for with it are there, and are not found");
    }

    void deferred_settled(const MessageRecord& message, ports::Outcome outcome) override {
        if (outcome == ports::Outcome::complete) {
            completed_.insert(&message);
            if (!message.deferred_gone) {
                report(message, "is completed, and the broker still has it");
            }
        }
    }

    void deferred_gone(const MessageRecord& message) override {
        if (!message.deferred_asked) {
            report(message, "is gone, and nobody has completed it");
        }
    }

private:
    void report(const MessageRecord& message, const std::string& text) {
        environment_.verdict.report(
            "(t) deferred", message.session + " #" + std::to_string(message.sequence) + " " + text);
    }

    Environment& environment_;
    const Expectations& expectations_;
    std::set<const MessageRecord*> completed_{};
    std::map<const MessageRecord*, const LinkRecord*> holders_{}; ///< that received it last
};

} // namespace

std::unique_ptr<Oracle> make_deferred_oracle(Environment& environment,
                                             const Expectations& expectations) {
    return std::make_unique<DeferredOracle>(environment, expectations);
}

} // namespace sessionq::simulation
