// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ports/delivery.hpp"
#include "simulation/records.hpp"

namespace sessionq::simulation {

/// A session as the broker knows it.
struct BrokerSession {
    std::string entity{};
    std::string id{};
    std::map<std::int64_t, MessageRecord*> pending{}; ///< unfinished, by sequence number
    std::uint32_t holder{0};                          ///< link; 0: free
    TimePoint locked_until{};
    std::optional<std::string> state{};
    bool foreign{false};                    ///< another client holds it
    std::optional<TimePoint> ready_since{}; ///< since when it is free and has a message
};

/// The truth about messages and locks, without time and latency. It shares nothing with the
/// product's broker and is as plain as possible, because the oracles trust it.
class SimBroker {
public:
    /// Adds a message at the end of a session.
    MessageRecord& send(const std::string& entity, const std::string& session, TimePoint now) {
        return add(entity, session, ++last_sequence_, now);
    }
    /// The same with a given number.
    MessageRecord& add(const std::string& entity, const std::string& session, std::int64_t sequence,
                       TimePoint now);

    [[nodiscard]] BrokerSession* find(const std::string& entity, const std::string& session);
    /// Makes the session if it does not exist; a named session needs no message.
    BrokerSession& obtain(const std::string& entity, const std::string& session);
    /// The free sessions of an entity that have a message.
    [[nodiscard]] std::vector<BrokerSession*> ready(const std::string& entity);

    void lock(BrokerSession& session, std::uint32_t link, TimePoint until);
    /// Releases a session. Its holder's messages are available again and not counted.
    void unlock(BrokerSession& session, TimePoint now);
    [[nodiscard]] BrokerSession* held_by(std::uint32_t link);

    /// The first available message for the holder. It is locked, or removed at once.
    MessageRecord* take(BrokerSession& session, bool remove);

    /// Returns true if it took effect: the link holds the session and the message.
    bool settle(std::uint32_t link, MessageRecord& message, ports::Outcome outcome);

    /// The message is finished.
    void finish(MessageRecord& message, MessageState state);

    /// The store does not know that it is finished. It is there again as it was.
    void take_back(MessageRecord& message, TimePoint now);

    [[nodiscard]] std::size_t unfinished() const noexcept { return unfinished_; }
    [[nodiscard]] const std::deque<MessageRecord>& messages() const noexcept { return messages_; }
    [[nodiscard]] std::deque<MessageRecord>& messages() noexcept { return messages_; }
    [[nodiscard]] std::map<std::pair<std::string, std::string>, BrokerSession>&
    sessions() noexcept {
        return sessions_;
    }

private:
    static void note_ready(BrokerSession& session, TimePoint now);

    std::int64_t last_sequence_{0};
    std::size_t unfinished_{0};
    std::deque<MessageRecord> messages_;
    // By entity and folded id: ids that differ in case only are one session.
    std::map<std::pair<std::string, std::string>, BrokerSession> sessions_;
};

} // namespace sessionq::simulation
