// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sessionq::tools {

/// Breaks the lines of a help text that are longer than `columns`, between words. The rest of a
/// line begins below its description, which starts at column `description` at the latest.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns,
                                  std::size_t description);

} // namespace sessionq::tools
