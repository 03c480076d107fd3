// SPDX-License-Identifier: MIT
#include "server/claims.hpp"

#include <algorithm>

#include "server/address.hpp"

namespace sessionq::server {
namespace {

// Returns the host without scheme and port, because a client may sign with one port and ask with
// another.
std::string host_of(std::string_view uri) {
    if (const std::size_t scheme = uri.find("://"); scheme != std::string_view::npos) {
        uri.remove_prefix(scheme + 3);
    } else {
        return {};
    }
    uri = uri.substr(0, uri.find('/'));
    const std::size_t colon = uri.rfind(':');
    const bool is_port =
        colon != std::string_view::npos && uri.find(']', colon) == std::string_view::npos;
    return lower_case(is_port ? uri.substr(0, colon) : uri);
}

bool is_at_or_below(std::string_view path, std::string_view scope) noexcept {
    return scope.empty() ||
           (path.starts_with(scope) && (path.size() == scope.size() || path[scope.size()] == '/'));
}

std::string_view parent_of(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    return path.substr(0, slash == std::string_view::npos ? 0 : slash);
}

Claims::Answer refuse(std::string_view description) {
    return {.status = 401,
            .description = std::string{description},
            .condition = "amqp:unauthorized-access"};
}

std::size_t bytes_of(const std::string& path, const std::string& key_name) noexcept {
    constexpr std::size_t beside_texts = 160; // of a node of the map
    return path.size() + key_name.size() + beside_texts;
}

// Clamps the expiry to the wall clock's range, because some clients sign for centuries.
WallTime expiry_of(std::int64_t seconds) noexcept {
    constexpr auto last =
        std::chrono::duration_cast<std::chrono::seconds>(WallTime::max().time_since_epoch());
    return WallTime{std::chrono::seconds{std::clamp<std::int64_t>(seconds, 0, last.count())}};
}

} // namespace

Claims::Answer Claims::put_token(std::string_view audience, std::string_view token, WallTime now) {
    if (is_shared_access_token(token)) {
        return check_signature(audience, token, now);
    }
    if (!policy_.verifier) {
        return refuse("UnsupportedToken: only shared access signatures are accepted.");
    }
    const auto until = policy_.verifier(token, audience, now);
    if (!until || *until <= now) {
        return refuse("InvalidToken: The token does not grant access to the audience.");
    }
    grant(lower_case(path_of(audience)), {.rights = Rights::all(), .until = *until});
    return {};
}

bool Claims::has(std::string_view audience) const {
    return claims_.contains(lower_case(path_of(audience)));
}

Claims::Answer Claims::check_signature(std::string_view audience, std::string_view text,
                                       WallTime now) {
    const auto token = parse_shared_access_token(text);
    if (!token) {
        return refuse("MalformedToken: The credentials contained in the token are malformed.");
    }
    const auto key = policy_.keys.find(token->key_name);
    // an unknown key name is not told apart, so nobody can probe for names
    if (key == policy_.keys.end() || !is_signed_with(*token, key->second.value)) {
        return refuse("InvalidSignature: The token has an invalid signature.");
    }
    const std::string asked_path = lower_case(path_of(audience));
    if (host_of(token->resource) != host_of(audience) ||
        !is_at_or_below(asked_path, lower_case(path_of(token->resource))) ||
        !is_at_or_below(asked_path, key->second.entity)) {
        return refuse(
            "InvalidAudience: The authorization header contains a token for another audience.");
    }
    const WallTime until = expiry_of(token->expiry);
    if (until <= now) {
        return refuse("ExpiredToken: The token is expired.");
    }
    grant(asked_path, {.rights = key->second.rights, .until = until, .key_name = token->key_name});
    return {};
}

bool Claims::log_in(std::string_view key_name, std::string_view password) {
    const auto key = policy_.keys.find(key_name);
    const bool is_right = key != policy_.keys.end() && is_same_secret(key->second.value, password);
    if (is_right) {
        grant(key->second.entity, {.rights = key->second.rights,
                                   .until = WallTime::max(),
                                   .key_name = std::string{key_name}});
    }
    return is_right;
}

void Claims::grant(const std::string& path, Claim claim) {
    bytes_ += bytes_of(path, claim.key_name);
    const auto found = claims_.find(path);
    if (found == claims_.end()) {
        claims_.emplace(path, std::move(claim));
        return;
    }
    bytes_ -= bytes_of(path, found->second.key_name);
    found->second = std::move(claim);
}

bool Claims::covers(std::string_view entity, Rights any_of, WallTime now) const {
    const std::string path = lower_case(entity);
    for (std::string_view scope = path;; scope = parent_of(scope)) {
        const auto claim = claims_.find(scope);
        if (claim != claims_.end() && claim->second.until > now &&
            claim->second.rights.has_any_of(any_of)) {
            return true;
        }
        if (scope.empty()) { // all entities
            return false;
        }
    }
}

std::optional<WallTime> Claims::next_expiry() const {
    if (claims_.empty()) {
        return std::nullopt;
    }
    return std::ranges::min_element(claims_, {},
                                    [](const auto& claim) { return claim.second.until; })
        ->second.until;
}

void Claims::drop_expired(WallTime now) {
    std::erase_if(claims_, [&](const auto& claim) {
        const bool is_over = claim.second.until <= now;
        bytes_ -= is_over ? bytes_of(claim.first, claim.second.key_name) : 0;
        return is_over;
    });
}

void Claims::keys_lost(const std::set<std::string>& names, WallTime now) {
    constexpr std::chrono::hours token_life{1};
    for (auto& [path, claim] : claims_) {
        if (names.contains(claim.key_name)) {
            const bool is_login = claim.until == WallTime::max();
            claim.until = is_login ? now : std::min(claim.until, WallTime{now + token_life});
        }
    }
    drop_expired(now);
}

} // namespace sessionq::server
