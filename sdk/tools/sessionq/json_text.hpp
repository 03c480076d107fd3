// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sessionq::cli {

using Json = nlohmann::ordered_json;

/// Adds a member with a text. Bytes that are not UTF-8 become a member NAME_base64 instead.
void put_text(Json& object, const std::string& name, std::string_view text);

/// One line of valid JSON without control characters, so that a terminal may show it.
[[nodiscard]] std::string line_of(const Json& object);

} // namespace sessionq::cli
