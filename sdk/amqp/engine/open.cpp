// SPDX-License-Identifier: MIT
#include "amqp/engine/open.hpp"

#include "amqp/codec/encoder.hpp"
#include "amqp/engine/composite_writer.hpp"
#include "amqp/engine/frame.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {

Open Open::read(const Fields& fields) {
    return {.container = std::string{fields.text(open_field::container)},
            .hostname = std::string{fields.text(open_field::hostname)},
            .offered_capabilities = std::string{fields.raw(open_field::offered_capabilities)},
            .properties = std::string{fields.raw(open_field::properties)},
            .idle_time_out = fields.number(open_field::idle_time_out),
            .max_frame_size = fields.number(open_field::max_frame_size),
            .channel_max = static_cast<std::uint16_t>(fields.number(open_field::channel_max))};
}

std::string_view Open::find_refusal() const {
    if (max_frame_size < smallest_max_frame_size) {
        return "the peer named a max-frame-size of less than 512";
    }
    const auto map = decode(properties);
    return map && map->find("amqp:connection-establishment-failed") != nullptr
               ? "the peer announced that it refuses the connection"
               : "";
}

namespace {

void write_performative(std::string& to, const Open& open, std::string_view properties) {
    CompositeWriter writer{to, Performative::open};
    writer.string(open_field::container, open.container);
    if (!open.hostname.empty()) {
        writer.string(open_field::hostname, open.hostname);
    }
    if (open.max_frame_size != 0) {
        writer.number(open_field::max_frame_size, open.max_frame_size);
    }
    writer.ushort(open_field::channel_max, open.channel_max);
    if (open.idle_time_out != 0) {
        writer.number(open_field::idle_time_out, open.idle_time_out);
    }
    writer.raw(open_field::offered_capabilities, open.offered_capabilities);
    writer.raw(open_field::properties, properties);
    writer.finish();
}

} // namespace

bool Open::write(std::string& to, std::size_t largest) const {
    return write_frame(to, 0, largest, [&] { write_performative(to, *this, properties); }) ||
           write_frame(to, 0, largest, [&] { write_performative(to, *this, {}); });
}

} // namespace sessionq::amqp
