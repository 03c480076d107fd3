// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/result.hpp>

namespace sessionq::inline v1 {

/// An HTTP proxy through which a client reaches its broker. The client asks the proxy for a tunnel
/// (method CONNECT) and speaks to the broker through it: TLS and WebSockets too, so the proxy sees
/// neither keys nor messages then. An aggregate for designated initialisers.
///
/// Example:
///
///     const auto client = Client::connect(
///         std::getenv("SESSIONQ_CONNECTION"),
///         {.proxy = HttpProxy{.host = "proxy.example.com", .port = 3128}});
///
/// Sources: RFC 9110, section 9.3.6 (CONNECT); RFC 7617 (basic authentication).
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe to read.
struct HttpProxy {
    /// A name or an address. Required.
    std::string host{};

    /// Range: 1 to 65535. Default 80.
    std::uint16_t port{80};

    /// For basic authentication, which the proxy receives without encryption. A user contains no
    /// ':'. Empty: the client sends neither. Default empty.
    std::string user{};

    /// A secret. No error or log contains it. Default empty.
    std::string password{};

    /// Hosts that the client reaches directly. "example.com" and ".example.com" also stand for all
    /// hosts below it, "*" for every host. Case does not matter. Default empty.
    std::vector<std::string> bypass{};

    /// Parses `http://[USER[:PASSWORD]@]HOST[:PORT]`. The scheme may be missing. User and password
    /// may be percent-encoded; an IPv6 address is written in brackets.
    /// Errors: invalid_argument (names the part, never the password; also a scheme other than
    /// http).
    [[nodiscard]] static HttpProxy parse(std::string_view url);

    /// Returns the proxy of the environment: the URL in `HTTPS_PROXY` or else `https_proxy`, and in
    /// `NO_PROXY` or else `no_proxy` the hosts to bypass, separated by commas. Nothing if neither
    /// variable has a URL. A client uses no proxy of the environment unless it is given this one.
    /// Errors: invalid_argument (names the variable and the part, never the password; also a scheme
    /// other than http).
    [[nodiscard]] static std::optional<HttpProxy> from_environment();

    /// Parses the URL of a proxy. Does what `parse` does, and returns the failure instead of
    /// throwing it. `Result` says what holds for all `try_` functions.
    static Result<HttpProxy> try_parse(std::string_view url) noexcept;

    /// Returns the proxy of the environment: a result that holds an empty optional if there is
    /// none. Does what `from_environment` does, and returns the failure instead of throwing it.
    static Result<std::optional<HttpProxy>> try_from_environment() noexcept;

    friend bool operator==(const HttpProxy&, const HttpProxy&) = default;
};

} // namespace sessionq::inline v1
