// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sessionq::amqp {

class Fields;

/// The fields of an open.
struct Open {
    std::string container{};
    std::string hostname{};
    std::string offered_capabilities{}; ///< an encoded array of symbols, or empty
    std::string properties{};           ///< an encoded map, or empty
    /// milliseconds after which its sender gives up on a silent peer; zero: never
    std::uint32_t idle_time_out{0};
    std::uint32_t max_frame_size{0}; ///< zero: not limited
    std::uint16_t channel_max{65535};

    [[nodiscard]] static Open read(const Fields& fields);
    /// A peer may open the connection only to close it with a reason. Artemis says so in a
    /// property, Broker-J names a max-frame-size that no frame fits. Returns a text that names
    /// which of the two it did; empty if it did neither.
    [[nodiscard]] std::string_view find_refusal() const;
    /// Appends it in a frame of at most `largest` bytes, without `properties` if need be. False: it
    /// does not fit, and nothing was appended.
    [[nodiscard]] bool write(std::string& to, std::size_t largest) const;
};

} // namespace sessionq::amqp
