// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace sessionq::telemetry {

/// `text` with U+FFFD in place of each byte that is not UTF-8. A collector refuses other text,
/// with all that came beside it.
[[nodiscard]] std::string utf8_text(std::string_view text);

} // namespace sessionq::telemetry
