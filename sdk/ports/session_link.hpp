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

/// The broker's grant of a lock, in the answer to a renewal or an accept. A `LockKeeper` takes it.
/// For a renewal, the length counts from the instant of the request, so a slow answer never makes
/// the lock seem longer (R12). For an accept, see `SessionLink::initial_lock`. If `length` is
/// unset, the lock does not expire.
struct LockGrant {
    std::optional<Duration> length{};
};

/// Credit that is sent with an accept, so that the first messages come with the accept's answer. An
/// `AcceptRequest` carries it.
struct FirstCredit {
    std::uint32_t count{0}; ///< zero: none
    bool drain{false};      ///< credit that is not used at once is to be given back
};

/// Receives the events of a session link. The link's owner implements it: a processor's
/// `SessionDriver`, or a receiver's `SessionReceiverCore`. Events come on the link's loop. A call
/// into the link never runs an event before it returns.
class LinkEvents {
public:
    virtual ~LinkEvents() = default;

    /// Memory for the next delivery.
    [[nodiscard]] virtual DeliveryPtr new_delivery() = 0;

    /// A message arrived. Messages come in sequence order, and each uses one credit.
    virtual void on_delivery(DeliveryPtr delivery) = 0;

    /// The broker finished or rejected the settlement of this delivery. `failure` is null on
    /// success. Comes exactly once for each `settle`, in any order. If the link ends, an unanswered
    /// settlement fails with `lock_lost` or `connection_lost`, and its outcome is unknown.
    virtual void on_settled(Delivery& delivery, const Failure* failure) = 0;

    /// All credit is used or given back. No delivery follows until credit is added. Comes exactly
    /// once for each `drain`, unless the link ends first.
    virtual void on_drained() = 0;

    /// The lock may end sooner than granted. Renew it.
    virtual void on_lock_uncertain() {}

    /// The link ended without `close`: the lock is lost (R13). This is the last event and comes at
    /// most once. Every outstanding `on_settled` comes before it.
    virtual void on_lost(const Failure& reason) = 0;
};

/// Renews at the broker the locks of single deliveries. A link whose deliveries have locks of their
/// own implements it. The promises of `SessionLink` hold here, too. `OwnLocks` calls it.
class MessageLocks {
public:
    using Handler = std::function<void(std::vector<core::Result<LockGrant>>)>;

    /// Renews the locks of unsettled deliveries. `tags` are the `port_tag`s of the deliveries.
    /// Answers with a result for each tag, in the same order. The result `lock_lost` means that
    /// this lock has ended. The returned id may be passed to `SessionLink::give_up`.
    virtual RequestId renew(std::vector<std::uint64_t> tags, Deadline deadline,
                            Handler handler) = 0;

protected:
    ~MessageLocks() = default;
};

/// Holds a locked session or message group, and delivers its messages. The port implements it. An
/// accept is answered with a link, and the link's owner keeps it in a `HeldLink`. With
/// `Scope::entity`, the link delivers the messages of an entity without sessions. Then the session
/// id is empty, the link's lock does not end, and a delivery may have a lock of its own.
///
/// Every call runs on the link's loop, and nothing blocks. Every answer comes by a later turn of
/// the loop. A link may be destroyed from within its own events and handlers. The destructor closes
/// a link that was not closed. After the destructor, no event or handler of the link runs.
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

    /// Returns which entity of the accept the session belongs to. 0 is `entity`, and n is
    /// `further_entities[n - 1]`.
    [[nodiscard]] virtual std::size_t entity_index() const noexcept { return 0; }

    /// Returns the lock that the broker granted in its answer to the accept. Its length counts from
    /// the moment the broker answered. The holder must allow for the time that the answer travelled
    /// (`LockKeeper::accepted`).
    [[nodiscard]] virtual LockGrant initial_lock() const noexcept = 0;

    /// Returns the account of the bytes that this link's deliveries take. The link's owner tells
    /// the account when a delivery arrives, and when the delivery is not kept any more. Null: the
    /// port counts the bytes, or they need not be counted.
    [[nodiscard]] virtual core::ReceiveSharePtr share() const { return nullptr; }

    /// Call it once, before any other call. `events` outlives the link. Returns how much of the
    /// accept's `first` was sent with the accept. The link begins with that credit, and with its
    /// drain unanswered. Returns zero if the port or its peer cannot send credit with an accept.
    virtual FirstCredit set_events(LinkEvents& events) = 0;

    /// Allows `count` more deliveries.
    virtual void add_credit(std::uint32_t count) = 0;

    /// Asks the broker to use the credit or give it back. `on_drained` is the answer. Deliveries
    /// may come before the answer. Until the answer, neither `drain` nor `add_credit` may be
    /// called.
    virtual void drain() = 0;

    /// Settles a delivery of this link. The delivery stays alive until `on_settled`. Settlements
    /// take effect in the order of the calls.
    virtual void settle(Delivery& delivery, Settlement&& settlement) = 0;

    virtual RequestId renew_lock(Deadline deadline, LockHandler handler) = 0;

    /// The locks of the deliveries. Null: the deliveries have no locks of their own.
    [[nodiscard]] virtual MessageLocks* message_locks() noexcept { return nullptr; }

    virtual RequestId get_state(Deadline deadline, StateHandler handler) = 0;
    /// Sets the state. Without a value, clears it.
    virtual RequestId set_state(std::optional<std::string> state, Deadline deadline,
                                DoneHandler handler) = 0;

    /// Receives deferred messages of this session by sequence number. These messages are settled
    /// like others. The owner of these messages may move their contents to other deliveries,
    /// because the port knows each message by its `port_tag`. Fails with `message_not_found` if any
    /// message is missing.
    virtual RequestId receive_deferred(std::vector<std::int64_t> sequence_numbers,
                                       Deadline deadline, DeliveriesHandler handler) = 0;

    /// Gives a request up. Unknown and finished ids are ignored.
    virtual void give_up(RequestId id) = 0;

    /// Releases the session. Unsettled messages become available again, and their delivery is not
    /// counted. After this call, the link's only event is `on_settled`, for settlements that the
    /// broker has not answered yet. These events come before `handler` runs. An accept that the
    /// same endpoint makes after this call finds the session free.
    virtual void close(DoneHandler handler) = 0;
};

using SessionLinkPtr = std::unique_ptr<SessionLink>;

} // namespace sessionq::ports
