#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sessionq::server {

/// Keys by name.
using AccessKeys = std::map<std::string, std::string, std::less<>>;

/// A shared access signature, taken apart.
struct SharedAccessToken {
    std::string signed_resource{}; ///< still escaped, as whoever signed it wrote it
    std::string resource{};
    std::string signature{}; ///< base64
    std::string key_name{};
    std::string signed_expiry{};
    std::int64_t expiry{0}; ///< seconds since the Unix epoch
};

/// Whether the text is meant to be a shared access signature, whatever its sender calls its type.
[[nodiscard]] bool is_shared_access_token(std::string_view text) noexcept;

/// Nothing if a part is missing or unreadable.
[[nodiscard]] std::optional<SharedAccessToken> parse_shared_access_token(std::string_view text);

/// Takes the same time wherever they differ.
[[nodiscard]] bool is_same_secret(std::string_view one, std::string_view other) noexcept;

/// Whether `key` signed it. Clients escape resources each in their own way, so what was received is
/// what is verified. Takes the same time for every wrong signature.
[[nodiscard]] bool is_signed_with(const SharedAccessToken& token, std::string_view key);

} // namespace sessionq::server
