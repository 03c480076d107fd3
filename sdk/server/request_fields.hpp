#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "amqp/codec/value.hpp"
#include "server/lock_token.hpp"

namespace sessionq::server {

// What the body of a request to `$management` holds by name. Nothing: it is not there, or of another type.

[[nodiscard]] std::optional<std::string_view> read_text(const amqp::Value& body,
                                                        std::string_view key);
[[nodiscard]] std::optional<std::int64_t> read_number(const amqp::Value& body,
                                                      std::string_view key);

/// The items of a list or array, each converted by `convert`, which gives nothing for what cannot
/// be; then there is none of them.
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

/// "lock-tokens". What is no UUID becomes a token that nobody holds.
[[nodiscard]] std::optional<std::vector<LockToken>> read_lock_tokens(const amqp::Value& body);

/// "skip" and "top": which part of a list is asked for.
struct Page {
    std::size_t skip{0};
    std::size_t top{0};
    std::string_view missing{}; ///< the one that is not there or negative; empty: both can be used
};
[[nodiscard]] Page read_page(const amqp::Value& body);

} // namespace sessionq::server
