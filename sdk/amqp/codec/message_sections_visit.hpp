// SPDX-License-Identifier: MIT
#pragma once

// The templates of message_sections.hpp.

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"

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
    const char* at = list->items.data();
    const char* const end = at + list->items.size();
    std::uint32_t index = 0;
    while (true) {
        for (; at != end && *at == encoded_null; ++at) { // most fields are null
            ++index;
        }
        if (at == end) {
            return index == list->count;
        }
        const std::size_t size = encoded_size({at, end}, Decoder::deepest);
        if (size == 0 || index >= list->count) {
            return false;
        }
        visit(index, std::string_view{at, size});
        at += size;
        ++index;
    }
}

/// The key at the beginning of the bytes: its size, zero if it is malformed, and how many bytes
/// precede the text, zero if it is no string or symbol.
struct MapKey {
    std::size_t size{0};
    std::size_t head{0};
};

inline MapKey map_key(std::string_view bytes) noexcept {
    // the forms of nearly all keys
    if (bytes.size() >= 2 && (bytes[0] == '\xa3' || bytes[0] == '\xa1')) {
        const std::size_t size = std::size_t{2} + static_cast<std::uint8_t>(bytes[1]);
        return size <= bytes.size() ? MapKey{.size = size, .head = 2} : MapKey{};
    }
    const std::size_t size = encoded_size(bytes, Decoder::deepest);
    const auto text = bytes_in(bytes.substr(0, size));
    return {.size = size, .head = text ? size - text->size() : 0};
}

template <typename Visitor>
bool visit_encoded_entries(std::string_view encoded_section, Visitor&& visit) {
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
    const char* at = map->items.data();
    const char* const end = at + map->items.size();
    for (std::uint32_t i = 0; i < map->count; i += 2) {
        const MapKey key = map_key({at, end});
        const std::size_t value =
            key.size == 0 ? 0 : encoded_size({at + key.size, end}, Decoder::deepest);
        if (value == 0) {
            return false;
        }
        visit(EncodedEntry{.name = key.head != 0 ? std::optional{std::string_view{
                                                       at + key.head, key.size - key.head}}
                                                 : std::nullopt,
                           .key = {at, key.size},
                           .value = {at + key.size, value}});
        at += key.size + value;
    }
    return at == end;
}

template <typename Visitor>
bool visit_entries(std::string_view encoded_section, Visitor&& visit) {
    return visit_encoded_entries(encoded_section, [&visit](const EncodedEntry& entry) {
        if (entry.name) {
            visit(*entry.name, entry.value);
        }
    });
}

template <typename IsDropped>
std::uint32_t copy_entries(std::string_view encoded_section, Encoder& to, IsDropped&& is_dropped) {
    std::uint32_t count = 0;
    visit_encoded_entries(encoded_section, [&](const EncodedEntry& entry) {
        if (!entry.name || !is_dropped(*entry.name)) {
            to.put_raw(entry.key);
            to.put_raw(entry.value);
            count += 2;
        }
    });
    return count;
}

} // namespace sessionq::amqp
