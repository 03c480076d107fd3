// SPDX-License-Identifier: MIT
#include "ports/capabilities.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include <sessionq/error.hpp>

namespace sessionq::ports {

namespace {

/// The names of the capabilities, in their order.
constexpr std::array<std::string_view, 26> names{"accept a named session",
                                                 "accept the next session",
                                                 "lock renewal",
                                                 "session state",
                                                 "list sessions",
                                                 "defer",
                                                 "dead-letter",
                                                 "dead-letter reason",
                                                 "scheduled messages",
                                                 "cancelling scheduled messages",
                                                 "peek",
                                                 "refusal of held sessions",
                                                 "refusal of messages without a session",
                                                 "sequence numbers",
                                                 "changed properties",
                                                 "receive and delete",
                                                 "accept from any of several entities",
                                                 "messages in this process",
                                                 "entities without sessions",
                                                 "renewal of message locks",
                                                 "dead-letter sub-queues",
                                                 "transfer dead-letter sub-queues",
                                                 "rules of subscriptions",
                                                 "lock tokens",
                                                 "deleting messages in batches",
                                                 "session ids without case"};
static_assert(names.size() == static_cast<std::size_t>(last_capability) + 1);

} // namespace

std::string_view to_string(Capability capability) noexcept {
    const auto index = static_cast<std::size_t>(capability);
    return index < names.size() ? names[index] : "unknown capability";
}

Capabilities::Capabilities(std::string broker, std::initializer_list<Capability> present,
                           std::string_view system, Duration link_idle_timeout)
    : broker_{std::move(broker)}, system_{system}, link_idle_timeout_{link_idle_timeout} {
    for (const Capability capability : present) {
        bits_ |= 1U << static_cast<unsigned>(capability);
    }
}

Failure Capabilities::missing(Capability capability) const {
    return {.code = Errc::not_supported,
            .detail = broker_ + " does not have: " + std::string{to_string(capability)}};
}

void Capabilities::require(Capability capability) const {
    if (!has(capability)) {
        throw Error{missing(capability)};
    }
}

} // namespace sessionq::ports
