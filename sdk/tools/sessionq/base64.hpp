// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sessionq::cli {

/// Nothing if the text is not base64 with padding (RFC 4648, section 4).
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

} // namespace sessionq::cli
