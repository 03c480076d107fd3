#include "ports/capabilities.hpp"

namespace sessionq::ports {

std::string_view to_string(Capability capability) noexcept {
    switch (capability) {
    case Capability::accept_named: return "accept a named session";
    case Capability::accept_next: return "accept the next session";
    case Capability::lock_renewal: return "lock renewal";
    case Capability::session_state: return "session state";
    case Capability::list_sessions: return "list sessions";
    case Capability::defer: return "defer";
    case Capability::dead_letter: return "dead-letter";
    case Capability::dead_letter_reason: return "dead-letter reason";
    case Capability::schedule: return "scheduled messages";
    case Capability::cancel_scheduled: return "cancelling scheduled messages";
    case Capability::peek: return "peek";
    case Capability::refuse_held: return "refusal of held sessions";
    case Capability::refuse_sessionless: return "refusal of messages without a session";
    case Capability::sequence_numbers: return "sequence numbers";
    case Capability::modify_properties: return "changed properties";
    case Capability::receive_and_delete: return "receive and delete";
    }
    return "unknown capability";
}

Capabilities::Capabilities(std::string broker, std::initializer_list<Capability> present)
    : broker_{std::move(broker)} {
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
