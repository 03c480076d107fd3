// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/deadline.hpp>

#include "core/receive_room.hpp"
#include "core/result.hpp"
#include "ports/delivery.hpp"
#include "ports/request.hpp"

namespace sessionq::ports {

/// The broker's grant of a lock: how long it lasts, counted from the instant of the request (R12).
/// Accepts and renewals bring one, and a `LockKeeper` takes it. The holder need not allow for the
/// time that the answer took. Unset: the lock does not expire.
struct LockGrant {
    std::optional<Duration> length{};
};

/// Credit that goes out with an accept, so that the first messages come with its answer. An
/// `AcceptRequest` carries it.
struct FirstCredit {
    std::uint32_t count{0}; ///< zero: none
    bool drain{false};      ///< credit that is not used at once is to be given back
};

/// Receives the events of a session link. The link's owner implements it: a processor's
/// `SessionDriver`, or a receiver's `SessionReceiverCore`. Events come on the link's loop, never
/// from within a call into the link.
class LinkEvents {
public:
    virtual ~LinkEvents() = default;

    /// Memory for the next delivery.
    [[nodiscard]] virtual DeliveryPtr new_delivery() = 0;

    /// A message arrived. Messages come in sequence order, and each uses one credit.
    virtual void on_delivery(DeliveryPtr delivery) = 0;

    /// The broker finished or rejected the settlement of this delivery. Comes exactly once per
    /// `settle`, in any order. If the link ends, an unanswered settlement fails with `lock_lost` or
    /// `connection_lost`, and its outcome is unknown. `failure` is null on success.
    virtual void on_settled(Delivery& delivery, const Failure* failure) = 0;

    /// All credit is used or given back: no delivery follows until credit is added. Comes exactly
    /// once per `drain`, unless the link ends first.
    virtual void on_drained() = 0;

    /// The lock may end sooner than granted. Renew it.
    virtual void on_lock_uncertain() {}

    /// The link ended without `close`: the lock is lost (R13). The last event, at most once. Every
    /// outstanding `on_settled` comes before it.
    virtual void on_lost(const Failure& reason) = 0;
};

/// Renews at the broker the locks that the deliveries of a link have of their own. A link with such
/// locks is one, and keeps the promises of `SessionLink`. `OwnLocks` calls it.
class MessageLocks {
public:
    using Handler = std::function<void(std::vector<core::Result<LockGrant>>)>;

    /// Renews the locks of unsettled deliveries. `tags` are their `port_tag`s. Answers with a
    /// result for each, in their order; `lock_lost`: that lock has ended. `SessionLink::give_up`
    /// takes the id.
    virtual RequestId renew(std::vector<std::uint64_t> tags, Deadline deadline,
                            Handler handler) = 0;

protected:
    ~MessageLocks() = default;
};

/// Holds a locked session or message group, and delivers its messages. An accept is answered with
/// one. Its owner keeps it in a `HeldLink`; the port implements it. With `Scope::entity` it
/// delivers the messages of an entity without sessions: then the session id is empty, the lock does
/// not end, and a delivery may have a lock of its own.
///
/// Every call runs on the link's loop, and nothing blocks. Every answer comes by a later turn of
/// the loop. A link may be destroyed from within its own events and handlers. The destructor closes
/// a link that was not closed. No event or handler of the link runs after that.
///
/// Each request has a deadline. The promises of `Endpoint` for its requests hold here, too.
class SessionLink {
public:
    using DoneHandler = std::function<void(core::Result<core::Done>)>;
    using LockHandler = std::function<void(core::Result<LockGrant>)>;
    using StateHandler = std::function<void(core::Result<std::optional<std::string>>)>;
    using DeliveriesHandler = std::function<void(core::Result<std::vector<DeliveryPtr>>)>;

    virtual ~SessionLink() = default;

    [[nodiscard]] virtual const std::string& session_id() const noexcept = 0;

    /// The entity of the session, as a position in the accept that it answered: 0 is `entity`, n is
    /// `further_entities[n - 1]`.
    [[nodiscard]] virtual std::size_t entity_index() const noexcept { return 0; }

    /// The lock that the broker granted in its answer to the accept, with its full length then. The
    /// holder must allow for the time that the answer travelled.
    [[nodiscard]] virtual LockGrant initial_lock() const noexcept = 0;

    /// Counts the bytes of this link's deliveries, from arrival until they are not kept any more;
    /// the owner tells it then. Null: the port counts them, or need not.
    [[nodiscard]] virtual core::ReceiveSharePtr share() const { return nullptr; }

    /// Call it once, before any other call. `events` outlives the link. Returns how much of the
    /// accept's `first` went out with it. The link begins with that credit, and with its drain
    /// unanswered. Zero if the port or its peer cannot do that.
    virtual FirstCredit set_events(LinkEvents& events) = 0;

    /// Allows `count` more deliveries.
    virtual void add_credit(std::uint32_t count) = 0;

    /// Asks the broker to use the credit or give it back; `on_drained` answers. Deliveries may come
    /// before the answer. Until the answer, neither `drain` nor `add_credit` may be called.
    virtual void drain() = 0;

    /// Settles a delivery of this link. The delivery stays alive until `on_settled`. Settlements
    /// take effect in the order of the calls.
    virtual void settle(Delivery& delivery, Settlement settlement) = 0;

    virtual RequestId renew_lock(Deadline deadline, LockHandler handler) = 0;

    /// Null: its deliveries have no locks of their own.
    [[nodiscard]] virtual MessageLocks* message_locks() noexcept { return nullptr; }

    virtual RequestId get_state(Deadline deadline, StateHandler handler) = 0;
    /// Sets the state. Without a value it is cleared.
    virtual RequestId set_state(std::optional<std::string> state, Deadline deadline,
                                DoneHandler handler) = 0;

    /// Receives deferred messages of this session by sequence number. They are settled like others.
    /// Their owner may move their contents to other deliveries, because the port knows them by
    /// `port_tag`. Fails with `message_not_found` if any is missing.
    virtual RequestId receive_deferred(std::vector<std::int64_t> sequence_numbers,
                                       Deadline deadline, DeliveriesHandler handler) = 0;

    /// Gives a request up. Unknown and finished ids are ignored.
    virtual void give_up(RequestId id) = 0;

    /// Releases the session. Unsettled messages become available again, uncounted. The only events
    /// that follow are `on_settled` for settlements under way, before the handler. An accept that
    /// the same endpoint makes after this call finds the session free.
    virtual void close(DoneHandler handler) = 0;
};

using SessionLinkPtr = std::unique_ptr<SessionLink>;

} // namespace sessionq::ports
