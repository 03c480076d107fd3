// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "tools/command_tree.hpp"

namespace sessionq::tools {

/// Scripts that complete commands, options, file names and choices of a program in a shell. They
/// need nothing but the shell, and they ask no broker.
[[nodiscard]] std::string bash_completion(const CommandInfo& program);
[[nodiscard]] std::string zsh_completion(const CommandInfo& program);
[[nodiscard]] std::string fish_completion(const CommandInfo& program);

} // namespace sessionq::tools
