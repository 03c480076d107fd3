// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/time.hpp>

#include "ports/delivery.hpp"

// What happened at the seam between the consumer and its ports, and in its handlers. The simulation
// writes these records and the oracles read them.

namespace sessionq::simulation {

/// `vanished`: the broker ended before it stored the message.
enum class MessageState : std::uint8_t {
    available,
    locked,
    completed,
    dead_lettered,
    deferred,
    removed,
    vanished
};

/// A message as the broker knows it.
struct MessageRecord {
    std::int64_t sequence{0};
    std::string entity{};
    std::string session{};
    MessageState state{MessageState::available};
    std::uint32_t delivery_count{0};
    std::uint32_t holder{0};               ///< the link that locks it
    std::uint32_t handled{0};              ///< handlers that returned
    std::uint32_t failed{0};               ///< handlers that threw
    std::uint32_t abandons{0};             ///< confirmed abandons
    std::optional<TimePoint> given_back{}; ///< when the last of these was confirmed
    std::optional<TimePoint> settled{};    ///< when its final settlement was confirmed
    bool excused{false}; ///< a lock of it was lost or a settlement is unknown, so it may come twice
    std::uint32_t deferred_link{0}; ///< on which a handler has asked for it after it was deferred
    bool holder_lost{false};    ///< a holder that had it was lost; only the simulated port reads it
    bool deferred_asked{false}; ///< a handler has asked to complete it after it was deferred
    bool deferred_gone{false};  ///< the broker has done so
    std::optional<std::uint32_t> kills{}; ///< how often its handler still kills the consumer;
                                          ///< unset: it was never handled
    [[nodiscard]] bool done() const noexcept {
        return state != MessageState::available && state != MessageState::locked;
    }
};

struct LinkRecord;

/// One delivery over one link.
struct DeliveryRecord {
    LinkRecord* link{nullptr};
    MessageRecord* message{nullptr};
    std::uint64_t tag{0};
    TimePoint arrived{};
    std::size_t bytes{0};
    std::uint32_t delivery_count{0};            ///< according to the broker
    bool holder_lost{false};                    ///< as the broker tells
    bool present{false};                        ///< the consumer has it and has not destroyed it
    std::uint32_t starts{0};                    ///< handlers that began
    std::uint64_t call{0};                      ///< the call (`TakenCalls`) of the last of them
    std::uint32_t running{0};                   ///< handlers that run now
    std::uint32_t returned{0};                  ///< handlers that returned
    std::uint32_t thrown{0};                    ///< handlers that threw
    std::uint32_t given_back{0};                ///< handlers of a batch that threw before it
    std::uint64_t batch{0};                     ///< the last batch that it was in; zero: none
    bool leads{true};                           ///< the first of its batch, or alone
    std::optional<ports::Outcome> asked{};      ///< the requested settlement
    std::optional<ports::Outcome> explicitly{}; ///< what the handler requested itself
    TimePoint settle_asked{};
    bool answered{false};
    bool refused{false};
    std::uint64_t starts_at_arrival{0}; ///< handlers that began anywhere before it arrived
    std::stop_token stop{};
};

/// A link as its owner knows it.
struct LinkRecord {
    std::uint32_t id{0};
    std::uint64_t accept_id{0};
    std::size_t endpoint{0};
    std::uint32_t wire{0}; ///< its connection, if there are wires
    std::string entity{};
    std::string session{};
    bool overtaken{
        false};        ///< another link may have got the session before this one's answer arrived
    bool late{false};  ///< answers an accept that was given up
    bool taken{false}; ///< the consumer uses it
    bool held{false};  ///< accepted, and not closed, lost or destroyed
    bool closed{false};
    bool lease_wavered{false}; ///< an answer said that the lock is lost, or a renewal was so late
                               ///< that the holder may be leaving
    bool lost{false};
    bool killed{false}; ///< its consumer was killed; it is `lost`, too
    bool exists{false}; ///< accepted, and not destroyed by the consumer
    TimePoint asked{};
    TimePoint accepted{};
    TimePoint granted_at{}; ///< the broker granted it no earlier
    TimePoint ended{};
    TimePoint lease_until{TimePoint::max()};
    TimePoint locked_until{}; ///< according to its answers the broker does not end the lock earlier
    bool renewal_asked{false}; ///< since the lock was granted
    TimePoint drained{};       ///< when the last drain was answered
    bool shown_empty{false};   ///< by a drain that gave credit back; nothing has come since
    TimePoint answered{};      ///< when the newest of its answered requests was made
    Duration granted{};        ///< the length that its holder was told last; zero: the usual one
    Duration lease_doubt{};  ///< how long the granting answer travelled; the receiver does not know
    std::uint32_t credit{0}; ///< granted and unused, as the owner knows it
    std::optional<TimePoint> draining{};
    TimePoint idle_since{};      ///< since when nothing is in flight, while in_flight is 0
    std::uint32_t in_flight{0};  ///< arrived, and neither settled with an answer nor gone
    std::uint32_t running{0};    ///< handlers that run
    std::uint64_t started{0};    ///< handlers that began
    std::uint32_t settling{0};   ///< requested and unanswered
    TimePoint settle_asked{};    ///< when a settlement was requested last
    std::uint32_t state_asks{0}; ///< requests for its state that are unanswered
    bool state_written{false};   ///< or was to be
    bool state_failed{false};    ///< a request for its state has failed
    std::vector<DeliveryRecord*> deliveries{};
};

/// What arrives on the link now was sent no earlier. A slow connection may deliver what was sent
/// before the lock ended and another link got the session.
[[nodiscard]] inline TimePoint sent_from(const LinkRecord& link) noexcept {
    return std::max(link.granted_at, link.answered);
}

/// Whether its holder may already treat the lock as ending. It allows for a margin and for the
/// latency of the answers.
[[nodiscard]] inline bool lease_ending(const LinkRecord& link, TimePoint now,
                                       Duration margin) noexcept {
    return link.lease_wavered ||
           (link.lease_until != TimePoint::max() && now >= link.lease_until - 2 * margin);
}

/// An accept as its owner knows it.
struct AcceptRecord {
    std::uint64_t id{0};
    std::size_t endpoint{0};
    std::string entity{};
    TimePoint asked{};
    bool cancelled{false};
    bool answered{false};
};

/// A message as its sender knows it, with the broker's copies of it.
struct SentRecord {
    struct Copy {
        std::int64_t sequence{0};
        bool is_kept{false}; ///< survives a kill of the broker now
    };

    std::string id{};
    std::string session{};
    const SentRecord* before{nullptr}; ///< the message of the same session that is sent before it
    const SentRecord* first_of_batch{nullptr}; ///< null: not sent yet
    std::uint32_t tries{0};
    std::uint32_t unknown{0}; ///< attempts with an unknown outcome
    bool is_under_way{false};
    bool is_confirmed{false};
    std::uint32_t taken{0};     ///< how often the broker took it
    std::vector<Copy> copies{}; ///< what the broker took and did not lose
};

/// A dead letter as the broker and the redrive under way know it.
struct LetterRecord {
    std::string entity{};
    std::string session{};
    std::int64_t number{0};
    bool is_removed{false};
    const MessageRecord* copy{nullptr}; ///< the last that a redrive has sent
    // For the call under way:
    bool is_planned{false};
    bool is_in_hand{false};
    bool is_asked{false}; ///< to be sent
    bool is_known{false}; ///< it knows that the broker has a copy
};

/// A handler's read or write of its session's state.
struct StateRecord {
    const LinkRecord* link{nullptr};
    bool writes{false};
    std::optional<std::string>
        value{};          ///< the value written, or the value read once it is answered
    std::size_t known{0}; ///< how many values the state had had at the request
};

/// A value of a session's state at the broker.
struct StateValue {
    std::optional<std::string> value{};
    bool is_kept{false}; ///< survives a kill of the broker now
};

/// A scheduled message as its sender knows it, with the broker's copies of it.
struct ScheduledRecord {
    struct Copy {
        std::int64_t sequence{0}; ///< until it is due
        bool is_kept{false};      ///< survives a kill of the broker now
        bool is_over{false};      ///< it was due or is cancelled
        bool is_cancelled{false}; ///< according to the answer to its sender
    };

    std::string id{};
    std::string entity{};
    std::string session{};
    WallTime due{};
    std::uint32_t unknown{0}; ///< attempts with an unknown outcome
    bool is_under_way{false};
    bool is_confirmed{false};
    bool is_settled{false}; ///< the sender is done with it
    std::uint32_t taken{0};
    std::vector<Copy> copies{};
};

} // namespace sessionq::simulation
