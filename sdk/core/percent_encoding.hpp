// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace sessionq::core {

/// Decodes the percent-encoding of a part of a URL. Returns nothing if it is invalid.
[[nodiscard]] inline std::optional<std::string> percent_decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i];
            continue;
        }
        unsigned value = 0;
        if (i + 2 >= text.size()) {
            return std::nullopt;
        }
        const char* const end = text.data() + i + 3;
        if (const auto read = std::from_chars(text.data() + i + 1, end, value, 16);
            read.ec != std::errc{} || read.ptr != end) {
            return std::nullopt;
        }
        plain += static_cast<char>(value);
        i += 2;
    }
    return plain;
}

} // namespace sessionq::core
