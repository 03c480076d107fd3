// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "server/rights.hpp"

namespace sessionq::server {

/// A shared access key.
struct AccessKey {
    AccessKey(std::string secret) : value{std::move(secret)} {} // NOLINT: a key is mostly its value
    AccessKey(const char* secret) : value{secret} {}            // NOLINT: the same

    std::string value;
    Rights rights{Rights::all()};
    /// The entity, in lower case, that the rights are limited to, with the entities below it.
    /// Empty: all entities.
    std::string entity{};

    friend bool operator==(const AccessKey&, const AccessKey&) = default;
};

/// Keys by name.
using AccessKeys = std::map<std::string, AccessKey, std::less<>>;

/// The parts of a shared access signature.
struct SharedAccessToken {
    std::string signed_resource{}; ///< still escaped, as it was signed
    std::string resource{};
    std::string signature{}; ///< in base64
    std::string key_name{};
    std::string signed_expiry{};
    std::int64_t expiry{0}; ///< seconds since the Unix epoch
};

/// Returns true if the text claims to be a shared access signature. The type that the client names
/// is ignored.
[[nodiscard]] bool is_shared_access_token(std::string_view text) noexcept;

/// Returns nothing if a part is missing or unreadable.
[[nodiscard]] std::optional<SharedAccessToken> parse_shared_access_token(std::string_view text);

/// Runs in constant time for any difference.
[[nodiscard]] bool is_same_secret(std::string_view one, std::string_view other) noexcept;

/// Returns true if `key` signed the token. Checks the text as received, because clients escape
/// resources differently. Runs in constant time for any wrong signature.
[[nodiscard]] bool is_signed_with(const SharedAccessToken& token, std::string_view key);

} // namespace sessionq::server
