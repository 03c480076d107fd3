// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/browser.hpp>

#include "client/calls/operation.hpp"

namespace sessionq::detail::client {

/// Makes the calls of a `Browser`. All copies of the browser share one core. The core holds the
/// entity, the options, and the receive thread that runs all its requests. It does not hold the
/// position: each copy has its own. Thread-safe.
class BrowserCore {
public:
    /// Throws if an argument is invalid or the broker cannot peek.
    BrowserCore(std::shared_ptr<ClientCore> client, std::string entity, BrowserOptions options);

    [[nodiscard]] const BrowserOptions& options() const noexcept { return options_; }

    /// Moves the browser behind the messages that it finds.
    [[nodiscard]] PublicCall<std::vector<ReceivedMessage>> peek(Browser& browser,
                                                                std::uint32_t max_messages,
                                                                const CallOptions& call) const;

    /// Moves the browser behind the message.
    [[nodiscard]] PublicCall<std::vector<ReceivedMessage>, std::optional<ReceivedMessage>> next(
        Browser& browser, Duration wait, const CallOptions& call) const;

private:
    /// A peek from the browser's position.
    [[nodiscard]] ports::PeekRequest request(const Browser& browser,
                                             std::uint32_t max_messages) const;

    const std::shared_ptr<ClientCore> client_;
    const std::string entity_;
    const BrowserOptions options_;
    EndpointThread& thread_;
};

/// Requests pages until one is not full.
[[nodiscard]] Operation<std::vector<std::string>> list_all_sessions(
    const Client& client, std::string entity, const ListSessionsOptions& options,
    const CallOptions& call);

} // namespace sessionq::detail::client
