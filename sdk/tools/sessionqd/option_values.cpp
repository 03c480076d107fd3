// SPDX-License-Identifier: MIT
#include "tools/sessionqd/option_values.hpp"

#include <charconv>

#include <asio/ip/address.hpp>

namespace sessionq::sessionqd {

Endpoint parse_endpoint(const std::string& option, std::string_view text) {
    const auto refuse = [&](const std::string& why) -> Endpoint {
        throw UsageError{option + ": '" + std::string{text} + "' " + why};
    };
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return refuse("is not ADDRESS:PORT");
    }
    std::string_view address = text.substr(0, colon);
    const std::string_view port = text.substr(colon + 1);
    if (address.starts_with('[') && address.ends_with(']')) {
        address = address.substr(1, address.size() - 2);
    }
    Endpoint endpoint{.address = address == "localhost" ? "127.0.0.1" : std::string{address}};
    const auto [end, error] =
        std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
    if (error != std::errc{} || end != port.data() + port.size()) {
        return refuse("has a port that is not 0 to 65535");
    }
    asio::error_code not_an_address;
    static_cast<void>(asio::ip::make_address(endpoint.address, not_an_address));
    return not_an_address ? refuse("has an address that is not numeric; use for example 127.0.0.1")
                          : endpoint;
}

server::QueueEntry parse_queue(const std::string& text) {
    const auto refuse = [&](const std::string& why) {
        throw UsageError{"--queue: '" + text + "' " + why};
    };
    std::string_view rest = text;
    server::QueueEntry queue{.name = std::string{rest.substr(0, rest.find(':'))}};
    if (queue.name.empty()) {
        refuse("has no name; expected NAME[:session][:lock=SECONDS]");
    }
    while (rest.find(':') != std::string_view::npos) {
        rest.remove_prefix(rest.find(':') + 1);
        const std::string_view trait = rest.substr(0, rest.find(':'));
        constexpr std::string_view lock = "lock=";
        if (trait == "session") {
            queue.options.requires_session = true;
        } else if (trait.starts_with(lock)) {
            const std::string_view number = trait.substr(lock.size());
            unsigned seconds = 0;
            const auto [end, error] =
                std::from_chars(number.data(), number.data() + number.size(), seconds);
            if (error != std::errc{} || end != number.data() + number.size()) {
                refuse("has a lock that is not a whole number of seconds");
            }
            queue.options.lock_duration = std::chrono::seconds{seconds};
        } else {
            refuse("is not NAME[:session][:lock=SECONDS]");
        }
    }
    if (const auto fault = broker::find_fault(queue.options)) {
        refuse(fault->detail);
    }
    return queue;
}

} // namespace sessionq::sessionqd
