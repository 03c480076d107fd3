// SPDX-License-Identifier: MIT
#pragma once

// The templates of message_sections.hpp.

#include "amqp/codec/decoder.hpp"

namespace sessionq::amqp {

template <typename Visitor>
bool visit_fields(std::string_view encoded_section, std::uint32_t most, Visitor&& visit) {
    if (encoded_section.empty()) {
        return true;
    }
    Decoder decoder{encoded_section};
    const auto code = decoder.read_descriptor();
    const auto list = code ? decoder.read_list() : std::nullopt;
    if (!list || list->count > most) {
        return false;
    }
    Decoder inside{list->items};
    for (std::uint32_t i = 0; i < list->count; ++i) {
        if (!inside.read_null()) {
            const auto field = inside.skip();
            if (!field) {
                return false;
            }
            visit(i, *field);
        }
    }
    return inside.at_end();
}

template <typename Visitor>
bool visit_entries(std::string_view encoded_section, Visitor&& visit) {
    if (encoded_section.empty()) {
        return true;
    }
    Decoder decoder{encoded_section};
    const auto code = decoder.read_descriptor();
    if (code && decoder.read_null()) {
        return true;
    }
    const auto map = code ? decoder.read_map() : std::nullopt;
    if (!map || map->count % 2 != 0) {
        return false;
    }
    Decoder inside{map->items};
    for (std::uint32_t i = 0; i < map->count; i += 2) {
        const auto key = inside.read_bytes();
        if (!key && !inside.skip()) {
            return false;
        }
        const auto value = inside.skip();
        if (!value) {
            return false;
        }
        if (key) {
            visit(*key, *value);
        }
    }
    return inside.at_end();
}

} // namespace sessionq::amqp
