#pragma once

#include <cstdint>
#include <string>

#include "amqp/condition.hpp"

namespace sessionq::amqp {

/// The delivery states of part 3, section 4 of the standard, by the low byte of their descriptors.
enum class OutcomeKind : std::uint8_t {
    none = 0,
    received = 0x23,
    accepted = 0x24,
    rejected = 0x25,
    released = 0x26,
    modified = 0x27,
    other = 0xff
};

/// What one side says of a delivery.
struct Outcome {
    OutcomeKind kind{OutcomeKind::none};
    Condition error{};              ///< rejected: why
    bool delivery_failed{false};    ///< modified
    bool undeliverable_here{false}; ///< modified
    std::string annotations{};      ///< modified: an encoded map, or empty
};

} // namespace sessionq::amqp
