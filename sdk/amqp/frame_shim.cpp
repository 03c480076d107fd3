#include "amqp/frame_shim.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::size_t header_size = 8;
constexpr std::size_t trailer_size = 4;
constexpr std::uint32_t smallest_frame = 512; // of the standard

enum Code : std::uint8_t {
    open = 0x10,
    begin = 0x11,
    attach = 0x12,
    flow = 0x13,
    transfer = 0x14,
    disposition = 0x15,
    detach = 0x16,
    end = 0x17,
    close = 0x18
};

/// How many fields the standard gives a composite type.
constexpr std::size_t full_count(std::uint64_t code) noexcept {
    switch (code) {
    case open: return 10;
    case begin: return 8;
    case attach: return 14;
    case flow: return 11;
    case transfer: return 11;
    case disposition: return 6;
    case detach: return 3;
    case end: return 1;
    case close: return 1;
    case 0x1d: return 3;  // error
    case 0x28: return 11; // source
    case 0x29: return 7;  // target
    default: return 0;
    }
}

constexpr std::string_view null_field{"\x40", 1};

std::uint32_t number_at(std::string_view bytes) noexcept {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        number = number << 8U | static_cast<std::uint8_t>(bytes[i]);
    }
    return number;
}

void put_number(std::string& to, std::size_t at, std::size_t value) {
    for (std::size_t i = 0; i < 4; ++i) {
        to[at + i] = static_cast<char>(value >> (24 - 8 * i));
    }
}

/// A performative taken apart.
struct Fields {
    std::uint64_t code{0};
    std::size_t count{0};
    std::array<std::string_view, 16> encoded{};
    std::string_view payload{};

    [[nodiscard]] std::string_view at(std::size_t index) const noexcept { return index < count ? encoded[index] : null_field; }
    void set(std::size_t index, std::string_view value) {
        while (count <= index) {
            encoded[count++] = null_field;
        }
        encoded[index] = value;
    }
};

std::optional<Fields> take_apart(std::string_view body) noexcept {
    Decoder decoder{body};
    Fields fields;
    const auto code = decoder.read_descriptor();
    const auto list = code ? decoder.read_list() : std::nullopt;
    if (!list || list->count > fields.encoded.size()) {
        return std::nullopt;
    }
    fields.code = *code;
    fields.payload = decoder.rest();
    Decoder inside{list->items};
    for (; fields.count < list->count; ++fields.count) {
        const auto field = inside.skip();
        if (!field) {
            return std::nullopt;
        }
        fields.encoded[fields.count] = *field;
    }
    return inside.at_end() ? std::optional{fields} : std::nullopt;
}

void put_widened(std::string_view field, std::string& to);

void put_composite(const Fields& fields, std::string& to) {
    Encoder encoder{to};
    encoder.write_descriptor(fields.code);
    const std::size_t count = std::max(fields.count, full_count(fields.code));
    const std::size_t begun = encoder.begin_list();
    for (std::size_t i = 0; i < count; ++i) {
        put_widened(fields.at(i), to);
    }
    encoder.end_list(begun, static_cast<std::uint32_t>(count));
}

/// Nested errors and termini are read by position too.
void put_widened(std::string_view field, std::string& to) {
    if (!field.empty() && field.front() == '\0') {
        if (const auto nested = take_apart(field); nested && full_count(nested->code) > nested->count && nested->payload.empty()) {
            put_composite(*nested, to);
            return;
        }
    }
    to.append(field);
}

void put_frame(std::string_view frame, const Fields& fields, std::string& to) {
    const std::size_t start = to.size();
    to.append(frame.substr(0, static_cast<std::size_t>(static_cast<std::uint8_t>(frame[4])) * 4));
    put_composite(fields, to);
    to.append(fields.payload);
    put_number(to, start, to.size() - start);
}

std::string_view body_of(std::string_view frame) noexcept {
    const std::size_t offset = static_cast<std::size_t>(static_cast<std::uint8_t>(frame[4])) * 4;
    const bool is_amqp = frame[5] == 0;
    return is_amqp ? frame.substr(offset) : std::string_view{};
}

/// An open's max-frame-size less the reserve; nothing if there would be too little left.
std::optional<std::string> shrunk_frame_size(std::string_view field) {
    const auto size = Decoder{field}.read_unsigned();
    if (!size) {
        return std::string{field}; // not limited
    }
    if (*size < smallest_frame + FrameShim::reserve) {
        return std::nullopt;
    }
    std::string encoded;
    Encoder{encoded}.write_uint(static_cast<std::uint32_t>(std::min<std::uint64_t>(*size, 0xffffffffU)) - FrameShim::reserve);
    return encoded;
}

} // namespace

TagBuffer tag_with_format(std::string_view tag, std::uint32_t message_format) noexcept {
    TagBuffer made;
    const std::string_view kept = tag.substr(0, longest_tag);
    std::copy(kept.begin(), kept.end(), made.bytes.begin());
    for (std::size_t i = 0; i < trailer_size; ++i) {
        made.bytes[kept.size() + i] = static_cast<char>(message_format >> (24 - 8 * i));
    }
    made.size = kept.size() + trailer_size;
    return made;
}

FormattedTag split_tag(std::string_view tag) noexcept {
    if (tag.size() < trailer_size) {
        return {tag, 0};
    }
    return {tag.substr(0, tag.size() - trailer_size), number_at(tag.substr(tag.size() - trailer_size))};
}

template <typename Rewrite>
bool FrameShim::walk(Direction& direction, std::string_view bytes, std::string& to, Rewrite rewrite) {
    std::string joined;
    if (!direction.partial.empty()) {
        joined.swap(direction.partial);
        joined.append(bytes);
        bytes = joined;
    }
    while (!bytes.empty()) {
        if (bytes.size() < header_size) {
            break;
        }
        if (!direction.past_header) {
            if (!bytes.starts_with("AMQP")) {
                return false;
            }
            to.append(bytes.substr(0, header_size));
            bytes.remove_prefix(header_size);
            direction.past_header = true;
            continue;
        }
        const std::size_t size = number_at(bytes);
        const std::size_t offset = static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[4])) * 4;
        if (size < header_size || offset < header_size || offset > size) {
            return false;
        }
        if (bytes.size() < size) {
            break;
        }
        if (!rewrite(bytes.substr(0, size))) {
            return false;
        }
        bytes.remove_prefix(size);
    }
    direction.partial.assign(bytes);
    return true;
}

bool FrameShim::outbound(std::string_view bytes, std::string& to) {
    return walk(out_, bytes, to, [&](std::string_view frame) { return rewrite_outbound(frame, to); });
}

bool FrameShim::inbound(std::string_view bytes, std::string& to) {
    return walk(in_, bytes, to, [&](std::string_view frame) { return rewrite_inbound(frame, to); });
}

bool FrameShim::rewrite_outbound(std::string_view frame, std::string& to) {
    const std::string_view body = body_of(frame);
    if (body.empty()) {
        to.append(frame);
        return true;
    }
    auto fields = take_apart(body);
    if (!fields) {
        return false;
    }
    std::string encoded;
    std::string format;
    if (fields->code == open) {
        const auto shrunk = shrunk_frame_size(fields->at(2));
        if (!shrunk) {
            return false;
        }
        encoded = *shrunk;
        fields->set(2, encoded);
    } else if (fields->code == begin && fields->at(4) == null_field) {
        Encoder{encoded}.write_uint(handle_max);
        fields->set(4, encoded);
    } else if (fields->code == transfer) {
        if (const auto tag = Decoder{fields->at(2)}.read_bytes()) {
            const FormattedTag split = split_tag(*tag);
            Encoder{encoded}.write_binary(split.tag);
            Encoder{format}.write_uint(split.message_format);
            fields->set(2, encoded);
            fields->set(3, format);
        }
    }
    put_frame(frame, *fields, to);
    return true;
}

bool FrameShim::rewrite_inbound(std::string_view frame, std::string& to) {
    const std::string_view body = body_of(frame);
    const std::optional<std::uint64_t> code = body.empty() ? std::nullopt : Decoder{body}.read_descriptor();
    const bool is_formatted = code == std::uint64_t{transfer} && read_message_formats_;
    if (code != std::uint64_t{open} && !is_formatted) {
        to.append(frame);
        return true;
    }
    auto fields = take_apart(body);
    if (!fields) {
        return false;
    }
    std::string encoded;
    if (code == std::uint64_t{open}) {
        const auto shrunk = shrunk_frame_size(fields->at(2));
        if (!shrunk) {
            return false;
        }
        encoded = *shrunk;
        fields->set(2, encoded);
        seen_open_ = true;
    } else if (const auto tag = Decoder{fields->at(2)}.read_bytes()) {
        const auto format = Decoder{fields->at(3)}.read_unsigned();
        const TagBuffer carrying = tag_with_format(*tag, static_cast<std::uint32_t>(format.value_or(0)));
        Encoder{encoded}.write_binary({carrying.bytes.data(), carrying.size});
        fields->set(2, encoded);
    }
    put_frame(frame, *fields, to);
    return true;
}

} // namespace sessionq::amqp
