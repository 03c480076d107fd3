// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sessionq/error.hpp>

namespace sessionq::cli {

/// A peer's text without the secrets, and without signatures of tokens. A peer may repeat a text
/// that it was sent.
[[nodiscard]] std::string without_secrets(std::string text,
                                          const std::vector<std::string>& secrets);

/// The same for the peer's words in a failure.
void hide_secrets(std::optional<Failure>& failure, const std::vector<std::string>& secrets);

} // namespace sessionq::cli
