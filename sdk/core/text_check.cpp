// SPDX-License-Identifier: MIT
#include "core/text_check.hpp"

#include <variant>

#include "core/utf8.hpp"

namespace sessionq::core {

std::string text_fault(const Properties& properties) {
    for (const auto& [name, value] : properties) {
        if (!is_utf8(name)) {
            return ": the name '" + valid_utf8(name) + "' is not valid UTF-8";
        }
        const auto* const uri = std::get_if<Uri>(&value);
        const auto* const text = uri != nullptr ? &uri->text : std::get_if<std::string>(&value);
        if (text != nullptr && !is_utf8(*text)) {
            return ": the text of '" + name +
                   "' is not valid UTF-8; send bytes as a std::vector<std::byte>";
        }
    }
    return {};
}

} // namespace sessionq::core
