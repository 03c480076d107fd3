// SPDX-License-Identifier: MIT
#include "groups/connection_url.hpp"

#include <optional>

#include "core/ascii_case.hpp"
#include "core/percent_encoding.hpp"

namespace sessionq::groups {
namespace {

constexpr std::uint16_t plain_port = 5672;
constexpr std::uint16_t tls_port = 5671;

Failure wrong(std::string what) {
    return {.code = Errc::invalid_argument, .detail = "connection URL: " + std::move(what)};
}

bool has_scheme(std::string_view text, std::string_view scheme) noexcept {
    return core::equal_ignoring_case(text.substr(0, scheme.size()), scheme);
}

/// Cuts off the text before the separator, or all of it, and drops the separator.
std::string_view cut(std::string_view& text, char separator) {
    const std::size_t at = text.find(separator);
    const std::string_view head = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
    return head;
}

std::optional<Failure> read_host(std::string_view text, std::uint16_t default_port,
                                 ConnectionUrl& into) {
    auto made =
        core::parse_host_port(text, default_port, "host " + std::to_string(into.hosts.size() + 1));
    if (!made.ok()) {
        return wrong(made.failure().detail);
    }
    into.hosts.push_back(std::move(made).value());
    return std::nullopt;
}

std::optional<Failure> read_credentials(std::string_view text, ConnectionUrl& into) {
    const bool has_password = text.find(':') != std::string_view::npos;
    auto user = core::percent_decoded(cut(text, ':'));
    auto password = core::percent_decoded(text);
    if (!user || user->empty()) {
        return wrong("the user is empty or its percent-encoding is invalid");
    }
    if (!password || (has_password && password->empty())) {
        return wrong("the password is empty or its percent-encoding is invalid");
    }
    into.user = std::move(*user);
    into.password = std::move(*password);
    return std::nullopt;
}

std::optional<Failure> read_options(std::string_view text, ConnectionUrl& into) {
    while (!text.empty()) {
        std::string_view value = cut(text, '&');
        const std::string key{cut(value, '=')};
        if (key != "dialect") {
            return wrong("unknown option '" + key + "'; the only one is dialect");
        }
        into.dialect = dialect_by_name(value);
        if (into.dialect == nullptr) {
            return wrong("unknown dialect; use artemis or broker-j");
        }
    }
    return std::nullopt;
}

} // namespace

bool ConnectionUrl::is_one(std::string_view text) noexcept {
    return has_scheme(text, "amqp://") || has_scheme(text, "amqps://");
}

core::Result<ConnectionUrl> ConnectionUrl::parse(std::string_view text) {
    if (!is_one(text)) {
        return wrong("the scheme must be amqp:// or amqps://");
    }
    ConnectionUrl url{.tls = has_scheme(text, "amqps://")};
    text.remove_prefix(url.tls ? 8 : 7);
    // A password may contain @ and :, so the last @ before the path ends the credentials.
    const std::size_t end = text.find_first_of("/?");
    std::string_view authority = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end);
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
        if (auto failure = read_credentials(authority.substr(0, at), url)) {
            return std::move(*failure);
        }
        authority.remove_prefix(at + 1);
    }
    do {
        if (auto failure = read_host(cut(authority, ','), url.tls ? tls_port : plain_port, url)) {
            return std::move(*failure);
        }
    } while (!authority.empty());
    std::string_view options = text;
    const auto path = core::percent_decoded(cut(options, '?'));
    if (!path) {
        return wrong("the percent-encoding of the virtual host is invalid");
    }
    url.virtual_host = path->substr(path->starts_with('/') ? 1 : 0);
    if (auto failure = read_options(options, url)) {
        return std::move(*failure);
    }
    return url;
}

} // namespace sessionq::groups
