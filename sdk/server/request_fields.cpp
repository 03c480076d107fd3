// SPDX-License-Identifier: MIT
#include "server/request_fields.hpp"

namespace sessionq::server {

std::optional<std::string_view> read_text(const amqp::Value& body, std::string_view key) {
    const amqp::Value* value = body.find(key);
    return value != nullptr ? value->text() : std::nullopt;
}

std::optional<std::int64_t> read_number(const amqp::Value& body, std::string_view key) {
    const amqp::Value* value = body.find(key);
    return value != nullptr ? value->integer() : std::nullopt;
}

std::optional<std::vector<std::int64_t>> read_sequences(const amqp::Value& body) {
    return read_all<std::int64_t>(body, "sequence-numbers",
                                  [](const amqp::Value& item) { return item.integer(); });
}

std::optional<std::vector<LockToken>> read_lock_tokens(const amqp::Value& body) {
    return read_all<LockToken>(
        body, "lock-tokens", [](const amqp::Value& item) -> std::optional<LockToken> {
            const auto* uuid = item.as<core::Uuid>(); // one client sends nulls in place of tokens
            return LockToken::of(uuid != nullptr ? *uuid : core::Uuid{});
        });
}

Page read_page(const amqp::Value& body) {
    const auto skip = read_number(body, "skip");
    const auto top = read_number(body, "top");
    if (!skip || *skip < 0) {
        return {.missing = "skip"};
    }
    if (!top || *top < 0) {
        return {.missing = "top"};
    }
    return {.skip = static_cast<std::size_t>(*skip), .top = static_cast<std::size_t>(*top)};
}

} // namespace sessionq::server
