// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace sessionq::cli {

/// An error's text, with this program's options in place of the library's members.
[[nodiscard]] std::string in_words_of_options(std::string text);

} // namespace sessionq::cli
