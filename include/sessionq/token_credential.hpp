#pragma once

#include <string>

#include <sessionq/deadline.hpp>
#include <sessionq/time.hpp>

namespace sessionq {

/// What a token is asked for.
struct TokenRequest {
    std::string
        scope{}; ///< As Entra ID names it, for example "https://servicebus.azure.net/.default".
    Deadline deadline{}; ///< What comes after it is of no use any more to whoever waits now.
};

/// A bearer token and how long it is good for.
struct AccessToken {
    std::string token{}; ///< A secret; sessionq hands it to the broker and to nobody else.
    WallTime expires{};  ///< When it ceases to be good.
};

/// Where a client gets its tokens when it has no key: Entra ID, through whatever library the
/// application uses for that. Implemented by the application.
///
/// Asked when a token is first needed and again when half of its life is over, not for every
/// entity: a token serves all of them. After a failure it is asked again, with growing waits, as
/// long as somebody needs it; links in use keep running until the token in force expires.
///
/// Thread safety:
/// Distinct objects: the implementer's to say; sessionq uses each by itself.
/// Shared objects: `get_token` must be safe to call by several threads at the same time.
class TokenCredential {
public:
    virtual ~TokenCredential() = default;

    /// A token that is good now. May block: it is called on a thread that does nothing else, never
    /// on a receive thread, a worker or the caller's; at most once at a time for each receive
    /// thread of each client that uses the credential, and so at the same time by several. A call
    /// that does not return is left to itself, with the credential, until it does; it keeps no
    /// client from ending.
    ///
    /// Throws when there is none: whoever waits for the token then fails with `unauthorized` and
    /// the exception's text in the detail, which must hold no secret.
    [[nodiscard]] virtual AccessToken get_token(const TokenRequest& request) = 0;
};

} // namespace sessionq
