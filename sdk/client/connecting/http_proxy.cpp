// SPDX-License-Identifier: MIT
#include <sessionq/http_proxy.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <sessionq/error.hpp>

#include "client/check.hpp"
#include "core/as_result.hpp"
#include "core/ascii_case.hpp"
#include "core/host_port.hpp"
#include "core/percent_encoding.hpp"

namespace sessionq::inline v1 {
namespace {

constexpr std::uint16_t http_port = 80;

std::string read_credential(std::string_view text, const std::string& what) {
    auto decoded = core::percent_decoded(text);
    detail::client::require_argument(decoded && !decoded->empty(),
                                     what + " is empty or its percent-encoding is invalid");
    return std::move(*decoded);
}

HttpProxy parse_proxy(std::string_view url, const std::string& source) {
    HttpProxy made;
    if (const std::size_t scheme = url.find("://"); scheme != std::string_view::npos) {
        detail::client::require_argument(core::equal_ignoring_case(url.substr(0, scheme), "http"),
                                         source + ": the scheme must be http");
        url.remove_prefix(scheme + 3);
    }
    if (url.ends_with('/')) {
        url.remove_suffix(1);
    }
    // A password may contain '@', so the last '@' ends the credentials.
    if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
        const std::string_view credentials = url.substr(0, at);
        const std::size_t colon = credentials.find(':');
        made.user = read_credential(credentials.substr(0, colon), source + ": the user");
        if (colon != std::string_view::npos) {
            made.password =
                read_credential(credentials.substr(colon + 1), source + ": the password");
        }
        url.remove_prefix(at + 1);
    }
    core::HostPort where =
        core::parse_host_port(url, http_port, source + ": the host").take_or_throw();
    made.host = std::move(where.host);
    made.port = where.port;
    return made;
}

/// Returns the first variable that is set and not empty: its name and value.
std::optional<std::pair<std::string, std::string_view>> variable(const char* one,
                                                                 const char* other) {
    for (const char* const name : {one, other}) {
        if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') {
            return std::pair{std::string{name}, std::string_view{value}};
        }
    }
    return std::nullopt;
}

std::vector<std::string> split_list(std::string_view list) {
    std::vector<std::string> made;
    while (!list.empty()) {
        std::string_view entry = list.substr(0, list.find(','));
        list.remove_prefix(std::min(entry.size() + 1, list.size()));
        const std::size_t begin = entry.find_first_not_of(" \t");
        if (begin != std::string_view::npos) {
            made.emplace_back(entry.substr(begin, entry.find_last_not_of(" \t") - begin + 1));
        }
    }
    return made;
}

} // namespace

HttpProxy HttpProxy::parse(std::string_view url) { return parse_proxy(url, "proxy URL"); }

std::optional<HttpProxy> HttpProxy::from_environment() {
    const auto url = variable("HTTPS_PROXY", "https_proxy");
    if (!url) {
        return std::nullopt;
    }
    HttpProxy made = parse_proxy(url->second, url->first);
    if (const auto list = variable("NO_PROXY", "no_proxy")) {
        made.bypass = split_list(list->second);
    }
    return made;
}

Result<HttpProxy> HttpProxy::try_parse(std::string_view url) noexcept {
    return core::as_result([&] { return parse(url); });
}

Result<std::optional<HttpProxy>> HttpProxy::try_from_environment() noexcept {
    return core::as_result([] { return from_environment(); });
}

} // namespace sessionq::inline v1
