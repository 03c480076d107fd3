// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/command_tree.hpp"

namespace sessionq::tools {

/// A text in single quotes, for sh, bash and zsh.
[[nodiscard]] std::string shell_quoted(std::string_view text);

/// A text with a backslash before each of `special`.
[[nodiscard]] std::string escaped(std::string_view text, std::string_view special);

/// The texts with `between` between them.
[[nodiscard]] std::string joined(const std::vector<std::string>& texts, std::string_view between);

/// The names of all options of the program that have a value.
[[nodiscard]] std::vector<std::string> options_with_value(const CommandInfo& program);

} // namespace sessionq::tools
