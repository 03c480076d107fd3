// SPDX-License-Identifier: MIT
#include "core/host_port.hpp"

#include <algorithm>
#include <charconv>

namespace sessionq::core {
namespace {

Failure bad_host_port(std::string complaint) {
    return {.code = Errc::invalid_argument, .detail = std::move(complaint)};
}

} // namespace

Result<HostPort> parse_host_port(std::string_view text, std::uint16_t default_port,
                                 const std::string& what) {
    const bool has_brackets = text.starts_with('[');
    const std::size_t end = std::min(text.find(has_brackets ? ']' : ':'), text.size());
    if (has_brackets && end == text.size()) {
        return bad_host_port(what + " has a [ and no ]");
    }
    HostPort made{.host = std::string{text.substr(0, end)}, .port = default_port};
    std::string_view port = text.substr(end);
    if (has_brackets) {
        made.host.erase(0, 1);
        port.remove_prefix(1);
    }
    if (made.host.empty()) {
        return bad_host_port(what + " is empty");
    }
    if (!is_host(made.host)) {
        return bad_host_port(what + " has a character that no host has");
    }
    if (!port.empty() && port.front() != ':') {
        return bad_host_port(what + " has text after ]");
    }
    if (!port.empty()) {
        const char* const last = port.data() + port.size();
        const auto read = std::from_chars(port.data() + 1, last, made.port);
        if (read.ec != std::errc{} || read.ptr != last || made.port == 0) {
            return bad_host_port("the port of " + what + " is not 1 to 65535");
        }
    }
    return made;
}

bool is_host(std::string_view text) noexcept {
    return !text.empty() && std::ranges::none_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= ' ' || byte == 0x7f || c == '/';
    });
}

std::string to_string(const HostPort& where) {
    const bool is_ipv6 = where.host.find(':') != std::string::npos;
    return (is_ipv6 ? "[" + where.host + "]" : where.host) + ":" + std::to_string(where.port);
}

} // namespace sessionq::core
