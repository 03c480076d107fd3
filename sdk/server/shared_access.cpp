// SPDX-License-Identifier: MIT
#include "server/shared_access.hpp"

#include <array>
#include <charconv>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "amqp/base64.hpp"

namespace sessionq::server {
namespace {

constexpr std::string_view mark = "SharedAccessSignature ";

int hex(char c) noexcept {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string unescape(std::string_view text, bool plus_is_space) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 &&
            hex(text[i + 2]) >= 0) {
            plain += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
            i += 2;
        } else {
            plain += text[i] == '+' && plus_is_space ? ' ' : text[i];
        }
    }
    return plain;
}

} // namespace

bool is_shared_access_token(std::string_view text) noexcept { return text.starts_with(mark); }

std::optional<SharedAccessToken> parse_shared_access_token(std::string_view text) {
    if (!is_shared_access_token(text)) {
        return std::nullopt;
    }
    text.remove_prefix(mark.size());
    SharedAccessToken token;
    while (!text.empty()) {
        const std::string_view pair = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(pair.size() + 1, text.size()));
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos) {
            return std::nullopt;
        }
        const std::string_view name = pair.substr(0, equals);
        const std::string_view value = pair.substr(equals + 1);
        if (name == "sr") {
            token.signed_resource = value;
            token.resource = unescape(value, true);
        } else if (name == "sig") {
            token.signature = unescape(value, false); // '+' is a base64 digit here
        } else if (name == "skn") {
            token.key_name = unescape(value, true);
        } else if (name == "se") {
            token.signed_expiry = value;
            const auto [end, error] =
                std::from_chars(value.data(), value.data() + value.size(), token.expiry);
            if (error != std::errc{} || end != value.data() + value.size()) {
                return std::nullopt;
            }
        }
    }
    if (token.resource.empty() || token.signature.empty() || token.key_name.empty() ||
        token.signed_expiry.empty()) {
        return std::nullopt;
    }
    return token;
}

// Compares digests, which have the same length for any input.
bool is_same_secret(std::string_view one, std::string_view other) noexcept {
    std::array<unsigned char, EVP_MAX_MD_SIZE> of_one{};
    std::array<unsigned char, EVP_MAX_MD_SIZE> of_other{};
    unsigned size = 0;
    return EVP_Digest(one.data(), one.size(), of_one.data(), &size, EVP_sha256(), nullptr) == 1 &&
           EVP_Digest(other.data(), other.size(), of_other.data(), &size, EVP_sha256(), nullptr) ==
               1 &&
           CRYPTO_memcmp(of_one.data(), of_other.data(), size) == 0;
}

bool is_signed_with(const SharedAccessToken& token, std::string_view key) {
    const std::string text = token.signed_resource + "\n" + token.signed_expiry;
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(),
             &size) == nullptr) {
        return false;
    }
    const std::string expected = amqp::base64({reinterpret_cast<const char*>(digest.data()), size});
    return is_same_secret(expected, token.signature);
}

} // namespace sessionq::server
