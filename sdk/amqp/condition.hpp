#pragma once

#include <string>

namespace sessionq::amqp {

/// Why a peer ended or refused something; an empty name: no error was given.
struct Condition {
    std::string name{}; ///< a symbol of the standard's or the broker's vocabulary
    std::string text{};
    std::string info{}; ///< an encoded map, or empty

    [[nodiscard]] bool empty() const noexcept { return name.empty(); }
};

} // namespace sessionq::amqp
