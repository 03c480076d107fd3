// SPDX-License-Identifier: MIT
#include "ports/delivery.hpp"

#include <string>

#include <sessionq/error.hpp>

#include "core/message_size.hpp"
#include "core/text_check.hpp"
#include "core/utf8.hpp"

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

DeadLetterInfo to_dead_letter(std::string_view reason, std::string_view description) {
    const auto sent = [](std::string_view text) {
        const std::string valid = core::valid_utf8(text);
        return std::string{core::first_characters(valid, longest_dead_letter_text)};
    };
    return {.reason = sent(reason), .description = sent(description)};
}

void check_properties_to_modify(const Properties& properties) {
    if (const std::string fault = core::text_fault(properties); !fault.empty()) {
        throw Error{Errc::invalid_argument, "properties_to_modify" + fault};
    }
    if (const std::size_t size = core::size_of(properties); size > most_properties_to_modify) {
        throw Error{Errc::message_too_large, "properties_to_modify: they have " +
                                                 std::to_string(size) + " bytes, and may have " +
                                                 std::to_string(most_properties_to_modify)};
    }
}

} // namespace sessionq::ports
