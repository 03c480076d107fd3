// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/bounded_json.hpp"

namespace sessionq::cli {

std::optional<Json> parse_bounded_json(std::string_view text) {
    constexpr int deepest = 32;
    bool is_too_deep = false;
    Json found = Json::parse(
        text,
        [&is_too_deep](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
            is_too_deep = is_too_deep || depth > deepest;
            return !is_too_deep; // the rest is left out
        },
        false);
    return is_too_deep || found.is_discarded() ? std::nullopt : std::optional{std::move(found)};
}

} // namespace sessionq::cli
