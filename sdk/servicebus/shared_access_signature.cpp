// SPDX-License-Identifier: MIT
#include "servicebus/shared_access_signature.hpp"

#include <array>
#include <chrono>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "amqp/base64.hpp"

namespace sessionq::detail::servicebus {
namespace {

std::string percent_encoded(std::string_view text) {
    static constexpr std::string_view digits = "0123456789ABCDEF";
    std::string made;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                              (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' ||
                              byte == '.' || byte == '~';
        if (is_plain) {
            made.push_back(c);
        } else {
            made.append({'%', digits[byte >> 4U], digits[byte & 0x0fU]});
        }
    }
    return made;
}

} // namespace

std::string make_shared_access_signature(std::string_view resource, std::string_view key_name,
                                         std::string_view key, WallTime expires) {
    const std::string scope = percent_encoded(resource);
    const std::string until = std::to_string(
        std::chrono::floor<std::chrono::seconds>(expires.time_since_epoch()).count());
    const std::string to_sign = scope + '\n' + until;
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    unsigned length = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(to_sign.data()), to_sign.size(), hash.data(),
         &length);
    const std::string signature =
        amqp::base64({reinterpret_cast<const char*>(hash.data()), length});
    return "SharedAccessSignature sr=" + scope + "&sig=" + percent_encoded(signature) +
           "&se=" + until + "&skn=" + percent_encoded(key_name);
}

} // namespace sessionq::detail::servicebus
