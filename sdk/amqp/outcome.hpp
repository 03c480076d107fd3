#pragma once

#include <cstdint>
#include <string>

#include "amqp/condition.hpp"

namespace sessionq::amqp {

/// The delivery states of AMQP 1.0 part 3, section 4, by the low byte of their descriptors.
enum class OutcomeKind : std::uint8_t {
    none = 0,
    received = 0x23,
    accepted = 0x24,
    rejected = 0x25,
    released = 0x26,
    modified = 0x27,
    other = 0xff
};

/// One side's state of a delivery.
struct Outcome {
    OutcomeKind kind{OutcomeKind::none};
    Condition error{};              ///< for rejected
    bool delivery_failed{false};    ///< for modified
    bool undeliverable_here{false}; ///< for modified
    std::string annotations{};      ///< for modified: an encoded map, or empty
};

} // namespace sessionq::amqp
