// SPDX-License-Identifier: MIT
#include "groups/dialect.hpp"

#include <algorithm>
#include <array>

#include "core/peer_words.hpp"

namespace sessionq::groups {
namespace {

using ports::Capability;

const std::array<Dialect, 2>& dialects() {
    static const std::array<Dialect, 2> all{
        Dialect{.name = "artemis",
                .product = "apache-activemq-artemis",
                .messaging_system = "activemq",
                .capabilities = {"Apache ActiveMQ Artemis",
                                 {Capability::accept_named, Capability::accept_next,
                                  Capability::dead_letter, Capability::schedule,
                                  Capability::receive_and_delete, Capability::plain_entities},
                                 "activemq"},
                .group_selector = "JMSXGroupID",
                .first_for_consumer = "JMSXGroupFirstForConsumer",
                .delivery_time = "x-opt-delivery-time",
                .settles_in_turn = false},
        Dialect{.name = "broker-j",
                .product = "Apache Qpid Broker-J",
                .messaging_system = "qpid",
                .capabilities = {"Apache Qpid Broker-J",
                                 {Capability::accept_next, Capability::receive_and_delete,
                                  Capability::plain_entities},
                                 "qpid"},
                .group_selector = "",
                .first_for_consumer = "",
                .delivery_time = "", // honoured only by queues configured for it
                .settles_in_turn = true},
    };
    return all;
}

template <typename Wanted>
const Dialect* find(Wanted wanted) noexcept {
    const auto found = std::ranges::find_if(dialects(), wanted);
    return found != dialects().end() ? &*found : nullptr;
}

} // namespace

const Dialect* dialect_by_name(std::string_view name) noexcept {
    return find([&](const Dialect& each) { return each.name == name; });
}

const Dialect* dialect_by_product(std::string_view product) noexcept {
    return find([&](const Dialect& each) { return product.starts_with(each.product); });
}

std::string unknown_broker(std::string_view product) {
    return product.empty() ? "the broker does not name its product"
                           : "unknown broker '" + core::peer_words(product) + "'";
}

const ports::Capabilities& common_capabilities() noexcept {
    static const ports::Capabilities common{
        "a broker of message groups",
        {Capability::accept_next, Capability::receive_and_delete, Capability::plain_entities},
        "amqp"};
    return common;
}

std::string selector_for(const Dialect& dialect, std::string_view group) {
    std::string selector{dialect.group_selector};
    selector += " = '";
    for (const char c : group) {
        selector += c;
        if (c == '\'') { // doubled inside a literal
            selector += c;
        }
    }
    return selector + "'";
}

} // namespace sessionq::groups
