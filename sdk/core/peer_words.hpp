// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sessionq::core {

/// The longest text of a peer that errors and logs repeat, in bytes. A longer text is cut.
inline constexpr std::size_t longest_peer_words = 1024;

/// Makes a peer's text fit for logs, errors and terminals: each control character, each character
/// that changes the direction of text, and each byte that is not UTF-8 becomes a '?'. Cuts a text
/// that is longer than `longest`, and says so with "...".
[[nodiscard]] std::string peer_words(std::string_view text,
                                     std::size_t longest = longest_peer_words);

/// Writes the same characters of a text in JSON as escapes, so that none is lost. The text is
/// valid.
[[nodiscard]] std::string escape_peer_words(std::string json);

} // namespace sessionq::core
