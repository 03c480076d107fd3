#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_sections.hpp"

namespace sessionq::groups {

/// The same message, scheduled for `when` by an annotation of this name, in milliseconds since the
/// Unix epoch. Bytes that are not a message stay as they are.
[[nodiscard]] inline std::string with_delivery_time(std::string encoded,
                                                    std::string_view annotation, WallTime when) {
    const auto sections = amqp::MessageSections::find(encoded);
    if (!sections) {
        return encoded;
    }
    const std::size_t at = sections->header.size() + sections->delivery_annotations.size();
    std::string made = encoded.substr(0, at);
    made.reserve(encoded.size() + 64);
    amqp::Encoder encoder{made};
    encoder.write_descriptor(amqp::section::message_annotations);
    const std::size_t begun = encoder.begin_map();
    std::uint32_t count = 2;
    amqp::visit_entries(sections->message_annotations,
                        [&](std::string_view name, std::string_view value) {
                            encoder.write_symbol(name);
                            encoder.put_raw(value);
                            count += 2;
                        });
    encoder.write_symbol(annotation);
    encoder.write_long(amqp::Timestamp::of(when).milliseconds);
    encoder.end_map(begun, count);
    made.append(std::string_view{encoded}.substr(at + sections->message_annotations.size()));
    return made;
}

} // namespace sessionq::groups
