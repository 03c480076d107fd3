#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

#include "server/shared_access.hpp"

namespace sessionq::server {

/// Judges tokens that are no shared access signatures: until when this one gives rights to this
/// audience; nothing: it does not.
using TokenVerifier = std::function<std::optional<WallTime>(
    std::string_view token, std::string_view audience, WallTime now)>;

/// Who may enter.
struct AccessPolicy {
    AccessKeys keys{};
    TokenVerifier verifier{}; ///< null: such tokens are refused
};

/// What a connection's peer has shown rights to, each until it expires. Pure; keeps no token.
class Claims {
public:
    explicit Claims(const AccessPolicy& policy) noexcept : policy_{policy} {}

    struct Answer {
        int status{202};
        std::string description{"Accepted"};
        std::string condition{}; ///< empty: granted
    };
    /// `audience` is a URI; the token may give rights to more than that, the claim covers only what
    /// was asked for.
    Answer put_token(std::string_view audience, std::string_view token, WallTime now);

    /// Rights to everything, for as long as the connection lasts: its peer authenticated by other
    /// means.
    void grant_all() { until_[""] = WallTime::max(); }

    /// A claim for an entity covers what is below it: subscriptions, sub-queues, management.
    [[nodiscard]] bool covers(std::string_view entity, WallTime now) const;

    /// When the next claim expires.
    [[nodiscard]] std::optional<WallTime> next_expiry() const;
    void drop_expired(WallTime now);
    [[nodiscard]] bool empty() const noexcept { return until_.empty(); }

private:
    Answer check_signature(std::string_view audience, std::string_view text, WallTime now);
    Answer grant(std::string_view audience, WallTime until);

    const AccessPolicy& policy_;
    std::map<std::string, WallTime, std::less<>> until_{}; // by path in lower case
};

} // namespace sessionq::server
