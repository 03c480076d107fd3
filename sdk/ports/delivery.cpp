// SPDX-License-Identifier: MIT
#include "ports/delivery.hpp"

namespace sessionq::ports {

std::string_view to_string(Outcome outcome) noexcept {
    switch (outcome) {
    case Outcome::complete: return "complete";
    case Outcome::abandon: return "abandon";
    case Outcome::release: return "release";
    case Outcome::defer: return "defer";
    case Outcome::dead_letter: return "dead-letter";
    }
    return "unknown";
}

std::optional<Capability> capability_for(Outcome outcome) noexcept {
    switch (outcome) {
    case Outcome::defer: return Capability::defer;
    case Outcome::dead_letter: return Capability::dead_letter;
    default: return std::nullopt;
    }
}

} // namespace sessionq::ports
