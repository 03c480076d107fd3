// SPDX-License-Identifier: MIT
#include "client/redrive_mark.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include <openssl/evp.h>

#include <sessionq/error.hpp>
#include <sessionq/redrive.hpp>

#include "core/uuid.hpp"

namespace sessionq::client {
namespace {

/// A UUID of version 8 made from a name with SHA-256, as in RFC 9562, B.2.
std::string named_id(std::string_view name) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (EVP_Digest(name.data(), name.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
        throw Error{Errc::resource_exhausted, "SHA-256 is not available"};
    }
    core::Uuid id;
    std::ranges::transform(digest.begin(), digest.begin() + id.bytes.size(), id.bytes.begin(),
                           [](unsigned char byte) { return std::byte{byte}; });
    id.bytes[6] = (id.bytes[6] & std::byte{0x0f}) | std::byte{0x80};
    id.bytes[8] = (id.bytes[8] & std::byte{0x3f}) | std::byte{0x80};
    return id.to_string();
}

} // namespace

Message redriven_copy(const ReceivedMessage& letter, std::string_view source) {
    const std::int64_t number = letter.sequence_number();
    Message copy = letter.content();
    copy.message_id =
        named_id(std::string{source} + '\n' + std::to_string(number) + '\n' + copy.message_id);
    copy.deadline = {};
    copy.scheduled_enqueue_time.reset();
    copy.properties.erase("DeadLetterReason");
    copy.properties.erase("DeadLetterErrorDescription");
    copy.properties.insert_or_assign(std::string{redrive_source_property}, std::string{source});
    copy.properties.insert_or_assign(std::string{redrive_number_property}, number);
    copy.properties.try_emplace(std::string{redrive_message_id_property},
                                std::string{letter.message_id()});
    return copy;
}

std::optional<std::int64_t> redriven_from(const MessageContent& message, std::string_view source) {
    const auto from = message.property(redrive_source_property);
    const auto* const name = from ? std::get_if<std::string>(&*from) : nullptr;
    if (name == nullptr || *name != source) {
        return std::nullopt;
    }
    const auto number = message.property(redrive_number_property);
    const auto* const value = number ? std::get_if<std::int64_t>(&*number) : nullptr;
    return value == nullptr ? std::nullopt : std::optional{*value};
}

} // namespace sessionq::client
