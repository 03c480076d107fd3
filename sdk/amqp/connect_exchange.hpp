// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "amqp/proxy.hpp"
#include "core/result.hpp"

namespace sessionq::amqp {

/// The exchange of a client and an HTTP proxy until a tunnel is open (RFC 9110, section 9.3.6): a
/// request, and an answer without a body. No I/O.
class ConnectExchange {
public:
    ConnectExchange(const Proxy& proxy, const core::HostPort& target);

    /// Contains a secret if the proxy has a user.
    [[nodiscard]] std::string request() const;

    /// Takes bytes of the answer. Returns nothing until the answer is whole. Fails with
    /// `connection_refused` (the proxy opened no tunnel, or sent no answer of HTTP/1.1), or
    /// `unauthorized` (it wants another user or password).
    [[nodiscard]] std::optional<core::Result<core::Done>> input(std::string_view bytes);

    /// The proxy sends no more.
    [[nodiscard]] Failure ended() const;

    static constexpr std::size_t longest_answer = 16 * 1024; ///< A proxy's answer has under 1 KiB.

private:
    [[nodiscard]] core::Result<core::Done> judge(std::string_view status_line) const;
    [[nodiscard]] Failure refused(const std::string& why) const;

    const Proxy& proxy_;
    const std::string target_;
    std::string answer_{};
};

} // namespace sessionq::amqp
