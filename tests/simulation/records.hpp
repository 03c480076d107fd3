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

// What happened, as seen at the seam between the consumer and its ports, and in its handlers. The simulation writes it, the oracles read it.

namespace sessionq::simulation {

/// `vanished`: the broker ended before it was kept.
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
    std::uint32_t holder{0};            ///< the link that has it locked
    std::uint32_t handled{0};           ///< handlers that returned
    std::uint32_t failed{0};            ///< handlers that threw
    std::uint32_t abandons{0};          ///< that were confirmed
    std::optional<TimePoint> settled{}; ///< confirmed, for good
    bool excused{false}; ///< a lease of it was lost or its settlement unknown: it may come twice
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
    std::uint32_t delivery_count{0};            ///< as the broker says
    bool present{false};                        ///< handed to the consumer, not destroyed by it
    std::uint32_t starts{0};                    ///< handlers begun
    std::uint32_t running{0};                   ///< handlers that run now
    std::uint32_t returned{0};                  ///< handlers that ended without throwing
    std::uint32_t thrown{0};                    ///< handlers that threw
    std::optional<ports::Outcome> asked{};      ///< the settlement asked for
    std::optional<ports::Outcome> explicitly{}; ///< what the handler asked for itself
    bool answered{false};
    bool refused{false};
    std::uint64_t starts_at_arrival{0}; ///< handlers begun anywhere before it arrived
    std::stop_token stop{};
};

/// A link as its owner can know it.
struct LinkRecord {
    std::uint32_t id{0};
    std::uint64_t accept_id{0};
    std::size_t endpoint{0};
    std::uint32_t wire{0}; ///< the connection it is on, where there are such
    std::string entity{};
    std::string session{};
    bool overtaken{false}; ///< for all that is known somebody else got the session after it, before
                           ///< its answer arrived
    bool late{false};      ///< answers an accept that was given up
    bool held{false};      ///< accepted, and neither closed nor lost nor destroyed
    bool closed{false};
    bool lease_wavered{false}; ///< an answer said that it is over, or a renewal came so late that
                               ///< its holder may have begun to leave
    bool lost{false};
    bool exists{false}; ///< accepted, and not destroyed by the consumer
    TimePoint asked{};
    TimePoint accepted{};
    TimePoint ended{};
    TimePoint lease_until{TimePoint::max()};
    TimePoint locked_until{};  ///< the broker does not end the lock by itself before, as far as its
                               ///< answers show
    bool renewal_asked{false}; ///< since the lease was granted
    TimePoint drained{};       ///< when the last drain was answered
    Duration granted{};        ///< what its holder was told last of the length; zero: the usual
    Duration
        lease_doubt{}; ///< how long the granting answer travelled, which its receiver cannot know
    std::uint32_t credit{0}; ///< given and not used up, as the owner can know it
    std::optional<TimePoint> draining{};
    TimePoint idle_since{};     ///< since when nothing is in flight, while in_flight is 0
    std::uint32_t in_flight{0}; ///< arrived, and neither settled (answered) nor gone
    std::uint32_t running{0};   ///< handlers
    std::uint64_t started{0};   ///< handlers begun
    std::uint32_t settling{0};  ///< asked for, unanswered
    std::vector<DeliveryRecord*> deliveries{};
};

/// Whether its holder may already treat the lease as ending: it allows for a margin, and for how
/// long the answers travelled.
[[nodiscard]] inline bool lease_ending(const LinkRecord& link, TimePoint now,
                                       Duration margin) noexcept {
    return link.lease_wavered ||
           (link.lease_until != TimePoint::max() && now >= link.lease_until - 2 * margin);
}

/// An accept as its owner can know it.
struct AcceptRecord {
    std::uint64_t id{0};
    std::size_t endpoint{0};
    std::string entity{};
    TimePoint asked{};
    bool cancelled{false};
    bool answered{false};
};

/// A message as whoever sends it knows it, with what the broker has of it.
struct SentRecord {
    struct Copy {
        std::int64_t sequence{0};
        bool is_kept{false}; ///< even if the broker ends now
    };

    std::string id{};
    std::string session{};
    const SentRecord* before{nullptr};         ///< of the same session, and to be sent before it
    const SentRecord* first_of_batch{nullptr}; ///< null: it was not sent yet
    std::uint32_t tries{0};
    std::uint32_t unknown{
        0}; ///< tries of which the sender does not know whether they had an effect
    bool is_under_way{false};
    bool is_confirmed{false};
    std::uint32_t taken{0};     ///< by the broker, so many times
    std::vector<Copy> copies{}; ///< what it took and has not lost again
};

/// What a handler asked about its session's state.
struct StateRecord {
    const LinkRecord* link{nullptr};
    bool writes{false};
    std::optional<std::string> value{}; ///< written; or read, once it is answered
    std::size_t known{0};               ///< how many values the state had had when it was asked
};

/// A value that the state of a session had, at the broker.
struct StateValue {
    std::optional<std::string> value{};
    bool is_kept{false}; ///< even if the broker ends now
};

/// A message that is to be available later, as whoever scheduled it knows it, with what the broker
/// has of it.
struct ScheduledRecord {
    struct Copy {
        std::int64_t sequence{0}; ///< until it is due
        bool is_kept{false};      ///< even if the broker ends now
        bool is_over{false};      ///< it was due, or is cancelled
        bool is_cancelled{false}; ///< as its sender was told
    };

    std::string id{};
    std::string entity{};
    std::string session{};
    WallTime due{};
    std::uint32_t unknown{
        0}; ///< tries of which the sender does not know whether they had an effect
    bool is_under_way{false};
    bool is_confirmed{false};
    bool is_settled{false}; ///< the sender wants nothing more of it
    std::uint32_t taken{0};
    std::vector<Copy> copies{};
};

/// After such a failure a sender does not know whether what he sent had its effect; after any other
/// he knows that it had none.
[[nodiscard]] inline bool is_unknown_effect(const Failure& failure) noexcept {
    return failure.code == Errc::timeout || failure.code == Errc::cancelled ||
           failure.code == Errc::connection_lost;
}

} // namespace sessionq::simulation
