// SPDX-License-Identifier: MIT
#include "servicebus/connection_string.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "core/host_port.hpp"

namespace sessionq::detail::servicebus {
namespace {

std::uint16_t default_port(bool tls, Transport transport) noexcept {
    if (transport == Transport::web_sockets) {
        return tls ? 443 : 80;
    }
    return tls ? 5671 : 5672;
}

Failure wrong(std::string what) {
    return {.code = Errc::invalid_argument, .detail = "connection string: " + std::move(what)};
}

bool same(std::string_view left, std::string_view right) {
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
        text.remove_prefix(1);
    }
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
        text.remove_suffix(1);
    }
    return text;
}

/// sb://host[:port][/]
std::optional<Failure> read_endpoint(std::string_view endpoint, ConnectionString& into,
                                     std::optional<std::uint16_t>& port) {
    const std::size_t scheme = endpoint.find("://");
    if (scheme == std::string_view::npos ||
        !(same(endpoint.substr(0, scheme), "sb") || same(endpoint.substr(0, scheme), "amqps") ||
          same(endpoint.substr(0, scheme), "amqp"))) {
        return wrong("Endpoint must begin with sb://");
    }
    endpoint.remove_prefix(scheme + 3);
    if (endpoint.ends_with('/')) {
        endpoint.remove_suffix(1);
    }
    const std::size_t colon = endpoint.rfind(':');
    if (colon != std::string_view::npos && endpoint.find(']', colon) == std::string_view::npos) {
        const std::string_view digits = endpoint.substr(colon + 1);
        std::uint16_t number = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error != std::errc{} || end != digits.data() + digits.size() || number == 0) {
            // not repeated: a key may have been pasted there
            return wrong("the port of Endpoint is not a number from 1 to 65535");
        }
        port = number;
        endpoint = endpoint.substr(0, colon);
    }
    if (endpoint.starts_with('[') && endpoint.ends_with(']')) {
        endpoint = endpoint.substr(1, endpoint.size() - 2);
    }
    if (endpoint.empty() || endpoint.find('/') != std::string_view::npos) {
        return wrong("Endpoint has no host");
    }
    if (!core::is_host(endpoint)) {
        return wrong("the host of Endpoint has a character that no host has");
    }
    into.host = endpoint;
    return std::nullopt;
}

} // namespace

core::Result<ConnectionString> ConnectionString::parse(std::string_view text,
                                                       std::optional<Transport> transport) {
    ConnectionString made;
    std::optional<std::uint16_t> port;
    std::optional<Transport> said;
    const std::array<std::pair<std::string_view, std::string*>, 4> plain{
        {{"SharedAccessKeyName", &made.key_name},
         {"SharedAccessKey", &made.key},
         {"SharedAccessSignature", &made.signature},
         {"EntityPath", &made.entity_path}}};
    if (!text.empty() && text.find('=') == std::string_view::npos) {
        return wrong("expected "
                     "Endpoint=sb://HOST;SharedAccessKeyName=NAME;SharedAccessKey=KEY");
    }
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        const std::string_view pair = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (pair.empty()) {
            continue;
        }
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos) {
            return wrong("expected KEY=VALUE; a part has no '='");
        }
        const std::string_view key = trimmed(pair.substr(0, equals));
        const std::string_view value = trimmed(pair.substr(equals + 1));
        const auto known = std::find_if(plain.begin(), plain.end(),
                                        [&](const auto& each) { return same(each.first, key); });
        if (known != plain.end()) {
            if (value.empty() || !known->second->empty()) {
                return wrong(std::string{known->first} +
                             (value.empty() ? " is empty" : " occurs twice"));
            }
            *known->second = value;
        } else if (same(key, "Endpoint")) {
            if (!made.host.empty()) {
                return wrong("Endpoint occurs twice");
            }
            if (auto failed = read_endpoint(value, made, port)) {
                return std::move(*failed);
            }
        } else if (same(key, "UseDevelopmentEmulator")) {
            if (!same(value, "true") && !same(value, "false")) {
                return wrong("UseDevelopmentEmulator must be true or false");
            }
            made.tls = same(value, "false");
        } else if (same(key, "TransportType")) {
            if (!same(value, "Amqp") && !same(value, "AmqpWebSockets")) {
                return wrong("TransportType must be Amqp or AmqpWebSockets");
            }
            said = same(value, "Amqp") ? Transport::tcp : Transport::web_sockets;
        } else {
            return wrong("unknown key '" + std::string{key.substr(0, 40)} + "'");
        }
    }
    if (made.host.empty()) {
        return wrong("Endpoint is missing");
    }
    if (made.key_name.empty() != made.key.empty()) {
        return wrong(made.key.empty() ? "SharedAccessKeyName needs SharedAccessKey"
                                      : "SharedAccessKey needs SharedAccessKeyName");
    }
    if (!made.key.empty() && !made.signature.empty()) {
        return wrong("use either SharedAccessKey or SharedAccessSignature");
    }
    if (transport && said && *transport != *said) {
        return Failure{
            .code = Errc::invalid_option,
            .detail = "ClientOptions::transport contradicts the connection string's TransportType"};
    }
    made.transport = transport.value_or(said.value_or(Transport::tcp));
    made.port = port.value_or(default_port(made.tls, made.transport));
    return made;
}

} // namespace sessionq::detail::servicebus
