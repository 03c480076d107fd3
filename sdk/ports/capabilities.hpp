// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <sessionq/error.hpp>
#include <sessionq/time.hpp>

namespace sessionq::ports {

/// A feature that some brokers have and other brokers lack. Each port declares its features in its
/// `Capabilities`. A function that needs a feature checks for it first. So a missing feature is an
/// error before any I/O.
enum class Capability : std::uint8_t { // named in this order in capabilities.cpp
    accept_named,                      ///< accept a session by its id
    accept_next,                       ///< accept any session that has messages
    lock_renewal,                      ///< the lock expires unless renewed
    session_state,                     ///< opaque bytes kept with a session
    list_sessions,                     ///< enumerate session ids
    defer,                 ///< set a message aside and receive it later by sequence number
    dead_letter,           ///< move a message to a dead-letter sub-queue
    dead_letter_reason,    ///< dead-letter with a reason and a description
    schedule,              ///< send now, deliver later
    cancel_scheduled,      ///< take a scheduled message back by its sequence number
    peek,                  ///< read messages without locking them
    refuse_held,           ///< an accept by id fails while another client holds the session
    refuse_sessionless,    ///< an entity with sessions rejects a message without one
    sequence_numbers,      ///< a message keeps the broker's number across deliveries
    modify_properties,     ///< an abandon or a deferral may change properties
    receive_and_delete,    ///< the broker removes messages as it delivers them
    accept_any_entity,     ///< one accept waits for a session of any of several entities
    messages_in_process,   ///< a message is in this process's memory before it is delivered
    plain_entities,        ///< receive from entities without sessions
    message_lock_renewal,  ///< on plain entities, the lock of a message expires unless renewed
    dead_letter_sub_queue, ///< `<entity>/$DeadLetterQueue` is an entity
    transfer_dead_letter_sub_queue, ///< `<entity>/$Transfer/$DeadLetterQueue` is an entity
    rules,                          ///< subscriptions have rules, which clients may change
    lock_tokens,                    ///< a locked message tells the token of its lock
    batch_delete,                   ///< delete messages without receiving them
    session_ids_without_case,       ///< ids that differ in case only are one session
};

inline constexpr Capability last_capability = Capability::session_ids_without_case;

[[nodiscard]] std::string_view to_string(Capability capability) noexcept;

/// The capabilities of one broker, and the broker's names in errors and spans. Each endpoint has a
/// `Capabilities`. The client checks it on the caller's thread, before it makes a request.
class Capabilities {
public:
    /// `system`: the broker's name in OpenTelemetry. `link_idle_timeout`: how long the link of a
    /// session may carry nothing before the broker ends it. max: the broker ends no idle link.
    Capabilities(std::string broker, std::initializer_list<Capability> present,
                 std::string_view system = "sessionq",
                 Duration link_idle_timeout = Duration::max());

    [[nodiscard]] const std::string& broker() const noexcept { return broker_; }
    /// The attribute `messaging.system`.
    [[nodiscard]] std::string_view system() const noexcept { return system_; }
    [[nodiscard]] Duration link_idle_timeout() const noexcept { return link_idle_timeout_; }
    [[nodiscard]] bool has(Capability capability) const noexcept {
        return (bits_ >> static_cast<unsigned>(capability) & 1U) != 0;
    }

    /// The failure `not_supported` with the broker and the capability.
    [[nodiscard]] Failure missing(Capability capability) const;
    /// Throws `Error{Errc::not_supported}` with the broker and the capability if it is missing.
    void require(Capability capability) const;

private:
    std::string broker_;
    std::string_view system_;
    Duration link_idle_timeout_;
    std::uint32_t bits_{0};
};

} // namespace sessionq::ports
