// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "amqp/codec/value.hpp"
#include "server/lock_token.hpp"

namespace sessionq::server {

// Fields of a `$management` request body. They return nothing if the field is absent or has another
// type.

[[nodiscard]] std::optional<std::string_view> read_text(const amqp::Value& body,
                                                        std::string_view key);
[[nodiscard]] std::optional<std::int64_t> read_number(const amqp::Value& body,
                                                      std::string_view key);

/// Converts each item of a list or array. Returns nothing if `convert` rejects an item.
template <typename Item, typename Convert>
std::optional<std::vector<Item>> read_all(const amqp::Value& body, std::string_view key,
                                          Convert convert) {
    const amqp::Value* value = body.find(key);
    const auto* items = value != nullptr ? value->items() : nullptr;
    if (items == nullptr) {
        return std::nullopt;
    }
    std::vector<Item> all;
    for (const amqp::Value& item : *items) {
        const auto converted = convert(item);
        if (!converted) {
            return std::nullopt;
        }
        all.push_back(*converted);
    }
    return all;
}

/// "sequence-numbers"
[[nodiscard]] std::optional<std::vector<std::int64_t>> read_sequences(const amqp::Value& body);

/// Reads "lock-tokens". An item that is not a UUID becomes a token that nobody holds.
[[nodiscard]] std::optional<std::vector<LockToken>> read_lock_tokens(const amqp::Value& body);

/// "skip" and "top": the requested part of a list.
struct Page {
    std::size_t skip{0};
    std::size_t top{0};
    std::string_view missing{}; ///< the key that is absent or negative; empty if both are valid
};
[[nodiscard]] Page read_page(const amqp::Value& body);

} // namespace sessionq::server
