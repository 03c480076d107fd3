// SPDX-License-Identifier: MIT
#include "server/session_filter.hpp"

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"

namespace sessionq::server {
namespace {

constexpr std::string_view filter_name = "com.microsoft:session-filter";
constexpr std::string_view non_exclusive_name = "com.microsoft:non-exclusive-session-filter";
constexpr std::string_view selector_name = "apache.org:selector-filter:string";
constexpr std::int64_t selector_code = 0x0000'468C'0000'0004;

// The kind of a described filter: its descriptor. The key is a name of the peer's choice.
std::optional<std::string_view> kind_of(const amqp::Value& filter) {
    const amqp::Described* described = filter.described();
    if (described == nullptr) {
        return std::nullopt;
    }
    return described->descriptor.integer() == selector_code ? selector_name
                                                            : described->descriptor.text();
}

} // namespace

SessionFilter read_session_filter(std::string_view encoded) {
    SessionFilter filter;
    const auto map = encoded.empty() ? std::nullopt : amqp::decode(encoded);
    if (!map || map->is_null()) {
        return filter;
    }
    const amqp::Value* value = map->find(filter_name);
    if (value == nullptr) {
        filter.wish = map->find(non_exclusive_name) != nullptr ? SessionFilter::Wish::unreadable
                                                               : SessionFilter::Wish::none;
        return filter;
    }
    if (const amqp::Described* described = value->described()) {
        filter.descriptor = described->descriptor;
        value = &described->value;
    }
    if (value->is_null()) {
        filter.wish = SessionFilter::Wish::any;
    } else if (const auto id = value->text()) {
        filter.wish = SessionFilter::Wish::named;
        filter.id = *id;
    } else {
        filter.wish = SessionFilter::Wish::unreadable;
    }
    return filter;
}

std::string find_unknown_filter(std::string_view encoded) {
    constexpr std::size_t longest_name = 100;
    const auto map = encoded.empty() ? std::nullopt : amqp::decode(encoded);
    const auto* entries = map ? map->as<amqp::Map>() : nullptr;
    if (entries == nullptr) {
        return {};
    }
    for (const auto& [key, value] : *entries) {
        const std::string_view name = key.text().value_or("?");
        if (value.is_null() || name == filter_name || name == non_exclusive_name) {
            continue;
        }
        return std::string{kind_of(value).value_or(name).substr(0, longest_name)};
    }
    return {};
}

std::string answer_session_filter(const SessionFilter& asked, std::string_view id) {
    amqp::Value value{id};
    if (!asked.descriptor.is_null()) {
        value = amqp::Value::described(asked.descriptor, std::move(value));
    }
    return amqp::encode(amqp::Value::map({{amqp::Value::symbol(filter_name), std::move(value)}}));
}

} // namespace sessionq::server
