#pragma once

#include <optional>
#include <string>

#include <sessionq/error.hpp>

namespace sessionq::amqp {

/// Why a peer ended or refused something; an empty name: no error was given.
struct Condition {
    std::string name{}; ///< a symbol of the standard's or the broker's vocabulary
    std::string text{};
    std::string info{};          ///< an encoded map, or empty
    std::optional<Errc> found{}; ///< set: not the peer's words but what this side found (a lost
                                 ///< stream, a broken protocol, a time-out)

    [[nodiscard]] bool empty() const noexcept { return name.empty(); }
};

} // namespace sessionq::amqp
