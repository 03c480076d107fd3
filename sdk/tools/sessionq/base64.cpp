// SPDX-License-Identifier: MIT
#include "tools/sessionq/base64.hpp"

#include <algorithm>
#include <cctype>

#include <openssl/evp.h>

namespace sessionq::cli {

std::optional<std::string> from_base64(std::string_view text) {
    // OpenSSL ignores space around the text, and it decodes padding to zeros.
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    const bool is_valid =
        text.size() % 4 == 0 &&
        std::ranges::all_of(text.substr(0, text.size() - padding), [](unsigned char c) {
            return c < 0x80 && (std::isalnum(c) != 0 || c == '+' || c == '/');
        });
    if (!is_valid) {
        return std::nullopt;
    }
    std::string bytes(text.size() / 4 * 3, '\0');
    const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                       reinterpret_cast<const unsigned char*>(text.data()),
                                       static_cast<int>(text.size()));
    if (length < 0) {
        return std::nullopt;
    }
    bytes.resize(static_cast<std::size_t>(length) - padding);
    return bytes;
}

} // namespace sessionq::cli
