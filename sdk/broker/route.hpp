// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "broker/directory.hpp"
#include "broker/filter/candidate.hpp"
#include "broker/instant.hpp"
#include "broker/rule_book.hpp"
#include "broker/transit.hpp"

namespace sessionq::broker {

/// The work of filters and arrivals that the thread of a caller does with one operation: about a
/// millisecond. If an operation takes longer, the broker's own thread does the rest, in turns of
/// this length. No thread that serves clients waits for it, because filters run under no lock.
inline constexpr std::uint64_t steps_a_turn = 1'000'000;

/// Messages on their way from an entity to where it forwards them, in turns. A message that goes to
/// several subscriptions, or as several copies into one, arrives in each at once and in order. Used
/// by one thread at a time, under no lock.
class Route {
public:
    /// The messages of a topic go to the subscriptions that it has now.
    Route(Directory& directory, const QueuePair& source, std::vector<Transit> messages);

    /// Forwards while `work` has room and the journal is not behind, and writes the result into
    /// each message. Returns true once all have arrived or failed.
    [[nodiscard]] bool run(Instant at, filter::Work& work);

    [[nodiscard]] std::vector<Transit>& messages() noexcept { return messages_; }

private:
    [[nodiscard]] bool must_wait() const noexcept;
    [[nodiscard]] bool publish(Instant at, filter::Work& work);
    [[nodiscard]] bool select(const QueuePair& subscription, filter::Work& work);
    void arrive(QueuePair& subscription, Instant at, filter::Work& work);
    [[nodiscard]] bool forward(Instant at, filter::Work& work);
    void forward(Transit& transit, Instant at, filter::Work& work);

    Directory& directory_;
    const bool is_topic_;
    std::vector<Transit> messages_;
    std::size_t message_{0}; // the next one
    // Of a topic.
    std::vector<QueuePairPtr> subscriptions_{};
    std::size_t subscription_{0}; // the one that the messages go to now
    std::vector<filter::Candidate> candidates_{};
    std::optional<RuleSelection> selection_{}; // of the next message
    std::vector<Arrival> arrivals_{};          // of the messages before it
    std::size_t made_{0};                      // bytes in arrivals, made by actions
};

} // namespace sessionq::broker
