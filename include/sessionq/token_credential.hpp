// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <sessionq/deadline.hpp>
#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// A request for a token.
struct TokenRequest {
    /// The scope as Entra ID names it, for example "https://servicebus.azure.net/.default".
    std::string scope{};

    /// A token that comes later is too late for the operations that wait now.
    Deadline deadline{};
};

/// A bearer token and its expiry.
struct AccessToken {
    std::string token{}; ///< A secret. sessionq sends it to the broker and to nobody else.
    WallTime expires{};  ///< When it becomes invalid.
};

/// A source of tokens for a client that has no key. An application implements it, for example with
/// a library for Entra ID.
///
/// Example:
///
///     struct FixedToken final : TokenCredential {
///         AccessToken get_token(const TokenRequest&) override {
///             return {.token = std::getenv("TOKEN"),
///                     .expires = std::chrono::system_clock::now() + std::chrono::hours{1}};
///         }
///     };
///     const auto azure = Client::connect("contoso", std::make_shared<FixedToken>());
///
/// When it is asked: when a token is first needed, and again when half of the token's life has
/// passed. One token serves all entities. After a failure it is asked again, with a backoff, while
/// an operation needs a token. Links in use continue until the current token expires.
///
/// Thread safety:
/// Distinct objects: the implementer decides. sessionq uses each by itself.
/// Shared objects: several threads may call `get_token` at the same time.
class TokenCredential {
public:
    virtual ~TokenCredential() = default;

    /// Returns a valid token. It may block. sessionq calls it on a thread that does nothing else,
    /// never on a receive thread, on a worker or on the application's thread. Each receive thread
    /// of each client that uses the credential calls it at most once at a time, so several calls
    /// may run at the same time. A call that does not return keeps its thread and the credential
    /// until it does. It does not keep a client from ending.
    ///
    /// Throw if there is no token. Operations that wait for it then fail with `unauthorized`, and
    /// with the exception's text in the detail. That text must contain no secret.
    [[nodiscard]] virtual AccessToken get_token(const TokenRequest& request) = 0;
};

} // namespace sessionq::inline v1
