// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "tools/command_tree.hpp"

namespace sessionq::tools {

/// The manual page of a program, section 1, for man(1).
[[nodiscard]] std::string man_page(const CommandInfo& program);

} // namespace sessionq::tools
