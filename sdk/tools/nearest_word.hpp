// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sessionq::tools {

/// The word most like `word`: at most a third of its characters differ, and at most three. A
/// character too many, too few, another, or two that changed places count as one. Empty: none.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       const std::vector<std::string>& words);

/// "; did you mean 'receive'?", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& words);

} // namespace sessionq::tools
