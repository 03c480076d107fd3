#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <sessionq/received_message.hpp>

namespace sessionq::ports {

/// One delivery of a message over a link. The receiver of the events allocates it
/// (`LinkEvents::new_delivery`), so that it can keep what it knows of the message in the same piece
/// of memory; the port fills it.
struct Delivery {
    Delivery() = default;
    Delivery(const Delivery&) = delete;
    Delivery& operator=(const Delivery&) = delete;
    virtual ~Delivery() = default;

    ReceivedMessage message{};
    std::size_t bytes{0};          ///< What it counts against a byte budget.
    std::uint64_t port_tag{0};     ///< The port's own; names the delivery within its link.
    bool settled_by_sender{false}; ///< Receive-and-delete: there is nothing to settle.
};

/// Returns a delivery to whoever allocated it.
using DeliveryPtr = std::unique_ptr<Delivery>;

/// What becomes of a message.
enum class Outcome : std::uint8_t {
    complete,    ///< done; remove it
    abandon,     ///< failed; make it available again, counted
    release,     ///< never started; make it available again, not counted
    defer,       ///< set aside until asked for by sequence number
    dead_letter, ///< move to the dead-letter sub-queue
};

[[nodiscard]] std::string_view to_string(Outcome outcome) noexcept;

/// An outcome with what belongs to it.
struct Settlement {
    Outcome outcome{Outcome::complete};
    DeadLetterInfo dead_letter{};
    Properties properties_to_modify{}; ///< merged into the application properties by abandon, defer
                                       ///< and dead_letter
};

} // namespace sessionq::ports
