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
    std::map<std::int64_t, MessageRecord*> pending{}; ///< not done, by sequence number
    std::uint32_t holder{0};                          ///< link; 0: free
    TimePoint locked_until{};
    bool foreign{false};                    ///< held by somebody outside of the simulation
    std::optional<TimePoint> ready_since{}; ///< free and with a message
};

/// The truth about messages and locks: no time passes in it and no message travels. Written apart
/// from the product's own broker and as plainly as possible, because the oracles believe it.
class SimBroker {
public:
    /// A message for a session, at the end of it.
    MessageRecord& send(const std::string& entity, const std::string& session, TimePoint now) {
        return add(entity, session, ++last_sequence_, now);
    }
    /// The same, with a number that somebody else gave it.
    MessageRecord& add(const std::string& entity, const std::string& session, std::int64_t sequence,
                       TimePoint now);

    [[nodiscard]] BrokerSession* find(const std::string& entity, const std::string& session);
    /// Made if it is not there: one that is named need not have a message.
    BrokerSession& obtain(const std::string& entity, const std::string& session);
    /// Free sessions of an entity that have a message.
    [[nodiscard]] std::vector<BrokerSession*> ready(const std::string& entity);

    void lock(BrokerSession& session, std::uint32_t link, TimePoint until);
    /// Gives a session back; what its holder had is available again, uncounted.
    void unlock(BrokerSession& session, TimePoint now);
    [[nodiscard]] BrokerSession* held_by(std::uint32_t link);

    /// The next message for the holder: the first that is available. It is locked, or removed at
    /// once.
    MessageRecord* take(BrokerSession& session, bool remove);

    /// True when it took effect: the link holds the session and the message.
    bool settle(std::uint32_t link, MessageRecord& message, ports::Outcome outcome);

    /// It needs nothing more.
    void finish(MessageRecord& message, MessageState state);

    /// That it needs nothing more was not kept: it is there again, as it was.
    void take_back(MessageRecord& message, TimePoint now);

    [[nodiscard]] std::size_t unfinished() const noexcept { return unfinished_; }
    [[nodiscard]] const std::deque<MessageRecord>& messages() const noexcept { return messages_; }
    [[nodiscard]] std::map<std::pair<std::string, std::string>, BrokerSession>&
    sessions() noexcept {
        return sessions_;
    }

private:
    static void note_ready(BrokerSession& session, TimePoint now);

    std::int64_t last_sequence_{0};
    std::size_t unfinished_{0};
    std::deque<MessageRecord> messages_;
    std::map<std::pair<std::string, std::string>, BrokerSession> sessions_;
};

} // namespace sessionq::simulation
