// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <sessionq/received_message.hpp>
#include <sessionq/time.hpp>

#include "ports/capabilities.hpp"

namespace sessionq::ports {

/// One delivery of a message over a link. When a message arrives, the port gets an empty delivery
/// from `LinkEvents::new_delivery`, fills it, and passes it to `on_delivery`. The link's owner
/// allocates the delivery. The owner derives its own type from `Delivery`, so that one allocation
/// holds the delivery and the owner's state of the message.
struct Delivery {
    Delivery() = default;
    Delivery(const Delivery&) = delete;
    Delivery& operator=(const Delivery&) = delete;
    virtual ~Delivery() = default;

    ReceivedMessage message{};
    std::size_t bytes{0};          ///< Its share of a byte budget.
    std::uint64_t port_tag{0};     ///< For the port: names the delivery within its link.
    bool settled_by_sender{false}; ///< Receive-and-delete: it needs no settlement.
    bool asked_for{false};         ///< For its owner: a handler has asked for it.
    /// Whether an earlier holder of the session had received the message, and then lost its
    /// connection or its lock. False if the broker does not tell. Only the local broker and
    /// sessionqd tell.
    bool holder_lost{false};
    /// The length of its own lock, counted from its arrival. Unset: the session's lock covers it.
    std::optional<Duration> lock{};
};

/// Owns a delivery, together with its owner's state of the message.
using DeliveryPtr = std::unique_ptr<Delivery>;

/// How a message is settled.
enum class Outcome : std::uint8_t {
    complete,    ///< the message is done; remove it
    abandon,     ///< make it available again and count the delivery
    release,     ///< make it available again, uncounted
    defer,       ///< set it aside until it is received by sequence number
    dead_letter, ///< move it to the dead-letter sub-queue
};

[[nodiscard]] std::string_view to_string(Outcome outcome) noexcept;

/// The capability that a broker needs for an application to settle in this way.
[[nodiscard]] std::optional<Capability> capability_for(Outcome outcome) noexcept;

/// An outcome and its parameters. `SessionLink::settle` sends it to the broker.
struct Settlement {
    Outcome outcome{Outcome::complete};
    DeadLetterInfo dead_letter{};
    Properties properties_to_modify{}; ///< merged into the application properties by abandon, defer
                                       ///< and dead_letter
};

/// The most characters of a dead-letter reason, and of a description. Azure's .NET client has the
/// same limit.
inline constexpr std::size_t longest_dead_letter_text = 4'096;

/// Returns the dead-letter reason and description as they are sent. A text that is too long is cut,
/// and bytes that are not UTF-8 become U+FFFD. The texts often come from exceptions.
[[nodiscard]] DeadLetterInfo to_dead_letter(std::string_view reason, std::string_view description);

/// The most bytes of the properties that a settlement changes. Azure Service Bus allows the same
/// number of bytes for the properties of a message.
inline constexpr std::size_t most_properties_to_modify = std::size_t{64} << 10U;

/// Throws if a settlement cannot carry these properties: `invalid_argument` if a text is not UTF-8,
/// `message_too_large` if they have too many bytes.
void check_properties_to_modify(const Properties& properties);

} // namespace sessionq::ports
