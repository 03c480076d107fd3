#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "broker/queue.hpp"

namespace sessionq::server {

/// Something of a peer's that holds locks: a session, or messages one by one.
struct Holder {
    std::uint64_t number{0}; ///< what its lock tokens begin with
    std::string link{};      ///< the receiver link's name; empty: not a link's
    broker::QueuePtr queue{};
    broker::ConsumerPtr consumer{};
    TimePoint locked_until{}; ///< of a session, as granted or renewed last

    /// Of a message that is handed out at `now`.
    [[nodiscard]] TimePoint message_locked_until(TimePoint now) const {
        return consumer->has_session ? locked_until : now + queue->options().lock_duration;
    }
};

/// What the receivers of one connection hold, for requests that name a link, a session or a lock
/// token.
class HeldLocks {
public:
    void add(Holder holder);
    void remove(std::uint64_t number);
    void note_renewal(std::uint64_t number, TimePoint until);

    /// Null: nothing of that name is held here.
    [[nodiscard]] const Holder* of_number(std::uint64_t number) const;
    [[nodiscard]] const Holder* of_link(const broker::Queue& queue, std::string_view link) const;
    [[nodiscard]] const Holder* of_session(const broker::Queue& queue,
                                           std::string_view session_id) const;

    /// What holds messages that were not received over a link, of a queue without sessions; made at
    /// first use.
    core::Result<const Holder*> unlinked(const broker::QueuePtr& queue, broker::Instant at);

    /// Gives back what `unlinked` took.
    void close_unlinked(broker::Instant at);

private:
    std::unordered_map<std::uint64_t, Holder> holders_{};
    std::map<const broker::Queue*, std::uint64_t> unlinked_{};
};

} // namespace sessionq::server
