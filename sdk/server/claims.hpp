// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

#include "server/shared_access.hpp"

namespace sessionq::server {

/// Verifies tokens other than shared access signatures. Returns when the token's rights to the
/// audience expire, or nothing if it grants none.
using TokenVerifier = std::function<std::optional<WallTime>(
    std::string_view token, std::string_view audience, WallTime now)>;

/// The keys and tokens that give access.
struct AccessPolicy {
    AccessKeys keys{};
    TokenVerifier verifier{}; ///< null: other tokens are refused
};

/// The rights that a connection's peer has proved, each until it expires. Pure; stores no token.
class Claims {
public:
    explicit Claims(const AccessPolicy& policy) noexcept : policy_{policy} {}

    struct Answer {
        int status{202};
        std::string description{"Accepted"};
        std::string condition{}; ///< empty if granted
    };
    /// `audience` is a URI. The token may grant more, but the claim covers only the audience.
    Answer put_token(std::string_view audience, std::string_view token, WallTime now);

    /// Grants the key's rights for the life of the connection, if the password is its value.
    [[nodiscard]] bool log_in(std::string_view key_name, std::string_view password);

    /// Returns true if a claim gives any of these rights. A claim for an entity also covers the
    /// nodes below it: subscriptions, sub-queues, management.
    [[nodiscard]] bool covers(std::string_view entity, Rights any_of, WallTime now) const;

    /// Returns when the next claim expires.
    [[nodiscard]] std::optional<WallTime> next_expiry() const;
    void drop_expired(WallTime now);
    /// These keys are gone or changed. Rights of a login end now, those of a token within an hour:
    /// by then a client has sent one that is signed with a new key.
    void keys_lost(const std::set<std::string>& names, WallTime now);
    [[nodiscard]] bool empty() const noexcept { return claims_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return claims_.size(); }
    /// Returns true if a token for this audience would replace a claim.
    [[nodiscard]] bool has(std::string_view audience) const;
    /// The memory that the claims take, in bytes.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    Answer check_signature(std::string_view audience, std::string_view text, WallTime now);
    struct Claim {
        Rights rights;
        WallTime until;
        std::string key_name{}; ///< empty: of a verified token
    };
    void grant(const std::string& path, Claim claim);

    const AccessPolicy& policy_;
    std::map<std::string, Claim, std::less<>> claims_{}; // by the path in lower case
    std::size_t bytes_{0};
};

} // namespace sessionq::server
