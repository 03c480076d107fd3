// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "broker/broker.hpp"
#include "contract/port_fixture.hpp"

namespace sessionq::test {

/// Another fixture's broker with a topic and subscription in place of a queue. Messages are sent to
/// the topic and received from the subscription.
template <typename Fixture>
class OnSubscription final : public Fixture {
public:
    std::string create_entity(const EntitySpec& spec) override {
        const std::string topic = "topic" + std::to_string(++topics_);
        static_cast<void>(this->broker().create_topic(topic, {}, this->now()).value());
        static_cast<void>(
            this->broker()
                .create_subscription(topic, "all",
                                     {.requires_session = spec.requires_session,
                                      .lock_duration = spec.lock_duration,
                                      .max_delivery_count = spec.max_delivery_count,
                                      .dead_letter_on_expiration = spec.dead_letter_on_expiration},
                                     rules(spec), this->now())
                .value());
        return broker::subscription_name(topic, "all");
    }
    [[nodiscard]] std::string sends_to(const std::string& entity) const override {
        return entity.substr(0, entity.find('/'));
    }
    [[nodiscard]] bool tells_sequence_numbers() const override {
        return false;
    } // the topic's numbers

private:
    static std::vector<Rule> rules(const EntitySpec& spec) {
        return spec.requires_session
                   ? std::vector<Rule>{{.name = "all",
                                        .filter = SqlFilter{"EXISTS(sys.SessionId)"}}}
                   : std::vector<Rule>{};
    }

    int topics_{0};
};

} // namespace sessionq::test
