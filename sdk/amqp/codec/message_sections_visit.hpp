#pragma once

// The template of message_sections.hpp.

#include "amqp/codec/decoder.hpp"

namespace sessionq::amqp {

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
