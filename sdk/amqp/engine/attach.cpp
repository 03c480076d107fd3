// SPDX-License-Identifier: MIT
#include "amqp/engine/attach.hpp"

#include "amqp/codec/decoder.hpp"
#include "amqp/engine/composite_writer.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::string_view copy_mode = "copy";

// A terminus of another type is present and has no address.
bool read_terminus(std::string_view encoded, std::uint8_t code, Terminus& terminus,
                   std::string& fault) {
    terminus.present = !encoded.empty();
    const auto descriptor = Decoder{encoded}.read_descriptor();
    terminus.coordinator =
        code == Performative::target && descriptor == std::uint64_t{Performative::coordinator};
    if (descriptor != std::uint64_t{code}) {
        return true;
    }
    const auto fields = Fields::read(encoded, fault);
    if (!fields) {
        return false;
    }
    terminus.address = fields->text(terminus_field::address);
    terminus.dynamic = fields->is_true(terminus_field::dynamic);
    terminus.properties = fields->raw(terminus_field::properties);
    if (code == Performative::source) {
        terminus.filter = fields->raw(terminus_field::filter);
        terminus.copies =
            Decoder{fields->raw(terminus_field::distribution_mode)}.read_bytes() == copy_mode;
    }
    return true;
}

std::string encode_terminus(const Terminus& terminus, std::uint8_t code) {
    std::string encoded;
    if (terminus.coordinator) {
        CompositeWriter{encoded, Performative::coordinator}.finish();
    } else if (terminus.present) {
        CompositeWriter writer{encoded, code};
        if (!terminus.address.empty()) {
            writer.string(terminus_field::address, terminus.address);
        }
        writer.boolean(terminus_field::dynamic, terminus.dynamic);
        writer.raw(terminus_field::properties, terminus.properties);
        if (code == Performative::source) {
            if (terminus.copies) {
                writer.symbol(terminus_field::distribution_mode, copy_mode);
            }
            writer.raw(terminus_field::filter, terminus.filter);
        }
        writer.finish();
    }
    return encoded;
}

} // namespace

std::optional<Attach> Attach::read(const Fields& fields, std::string& fault) {
    std::optional<Attach> attach{std::in_place};
    if (!read_terminus(fields.raw(attach_field::source), Performative::source, attach->source,
                       fault) ||
        !read_terminus(fields.raw(attach_field::target), Performative::target, attach->target,
                       fault)) {
        return std::nullopt;
    }
    attach->name = fields.text(attach_field::name);
    attach->sender_mode = static_cast<SenderSettleMode>(fields.number(attach_field::sender_mode));
    attach->receiver_mode =
        static_cast<ReceiverSettleMode>(fields.number(attach_field::receiver_mode));
    attach->properties = fields.raw(attach_field::properties);
    attach->max_message_size = fields.long_number(attach_field::max_message_size);
    return attach;
}

void Attach::write(std::string& to, std::string_view link, std::uint32_t handle,
                   bool is_receiver) const {
    CompositeWriter writer{to, Performative::attach};
    writer.string(attach_field::name, link);
    writer.number(attach_field::handle, handle);
    writer.boolean(attach_field::role, is_receiver);
    writer.ubyte(attach_field::sender_mode, static_cast<std::uint8_t>(sender_mode));
    writer.ubyte(attach_field::receiver_mode, static_cast<std::uint8_t>(receiver_mode));
    writer.raw(attach_field::source, encode_terminus(source, Performative::source));
    writer.raw(attach_field::target, encode_terminus(target, Performative::target));
    if (!is_receiver) {
        writer.number(attach_field::initial_delivery_count, 0);
    }
    writer.long_number(attach_field::max_message_size, max_message_size);
    writer.raw(attach_field::properties, properties);
    writer.finish();
}

} // namespace sessionq::amqp
