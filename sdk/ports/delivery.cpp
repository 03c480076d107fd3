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

} // namespace sessionq::ports
