#pragma once

#include <string>
#include <string_view>

#include "amqp/codec/message_sections.hpp"

namespace sessionq::groups {

/// The same message, marked durable: these brokers keep no others across a restart. Bytes that are
/// not a message stay as they are.
[[nodiscard]] inline std::string make_durable(std::string encoded) {
    const auto sections = amqp::MessageSections::find(encoded);
    if (!sections) {
        return encoded;
    }
    amqp::MessageHeader header =
        amqp::MessageHeader::read(sections->header).value_or(amqp::MessageHeader{});
    header.durable = true;
    std::string durable;
    durable.reserve(encoded.size() + 32);
    header.write(durable);
    durable.append(std::string_view{encoded}.substr(sections->header.size())); // it comes first
    return durable;
}

} // namespace sessionq::groups
