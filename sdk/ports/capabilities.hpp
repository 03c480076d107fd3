#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace sessionq::ports {

/// What a broker may or may not be able to do. Declared by each port; whatever needs one asks
/// first, so that a lack is an error before any I/O.
enum class Capability : std::uint8_t {
    accept_named,       ///< accept a session by its id
    accept_next,        ///< accept whichever session has messages
    lock_renewal,       ///< the lease expires unless renewed
    session_state,      ///< opaque bytes kept with a session
    list_sessions,      ///< enumerate session ids
    defer,              ///< set a message aside, receive it later by sequence number
    dead_letter,        ///< move a message to a dead-letter sub-queue
    dead_letter_reason, ///< ... with a reason and description
    schedule,           ///< send now, available later
    cancel_scheduled,   ///< ... and taken back before that, by its sequence number
    peek,               ///< look at messages without disturbing them
    refuse_held,        ///< an accept by id of a session that another client holds is refused
    refuse_sessionless, ///< a message without a session is refused by an entity of sessions
    sequence_numbers,   ///< a message keeps the broker's number over all its deliveries
    modify_properties,  ///< properties changed with an abandon or a deferral are kept
    receive_and_delete, ///< deliveries that need no settlement
};

[[nodiscard]] std::string_view to_string(Capability capability) noexcept;

/// The capabilities of one broker, as data.
class Capabilities {
public:
    Capabilities(std::string broker, std::initializer_list<Capability> present);

    [[nodiscard]] const std::string& broker() const noexcept { return broker_; }
    [[nodiscard]] bool has(Capability capability) const noexcept {
        return (bits_ >> static_cast<unsigned>(capability) & 1U) != 0;
    }

    /// Throws `Error{Errc::not_supported}` naming broker and capability when it is absent.
    void require(Capability capability) const;

private:
    std::string broker_;
    std::uint32_t bits_{0};
};

} // namespace sessionq::ports
