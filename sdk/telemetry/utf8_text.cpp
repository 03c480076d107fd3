// SPDX-License-Identifier: MIT
#include "telemetry/utf8_text.hpp"

#include "core/utf8.hpp"

namespace sessionq::telemetry {

std::string utf8_text(std::string_view text) {
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty()) {
        const auto character = core::first_character(text);
        const std::size_t size = character ? character->size : 1;
        valid.append(character ? text.substr(0, size) : std::string_view{"\xEF\xBF\xBD"});
        text.remove_prefix(size);
    }
    return valid;
}

} // namespace sessionq::telemetry
