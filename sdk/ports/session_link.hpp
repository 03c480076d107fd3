#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/deadline.hpp>

#include "core/result.hpp"
#include "ports/delivery.hpp"
#include "ports/request.hpp"

namespace sessionq::ports {

/// How long a lease lasts, as the broker answered; counted from the instant it was asked for (R12),
/// so that whoever holds it need not allow for the time the answer took. Unset: it does not expire.
struct LockGrant {
    std::optional<Duration> length{};
};

/// What a session link tells its owner. Always on the link's loop, never from within a call into
/// the link.
class LinkEvents {
public:
    virtual ~LinkEvents() = default;

    /// Memory for the next delivery.
    [[nodiscard]] virtual DeliveryPtr new_delivery() = 0;

    /// A message arrived, in sequence order. Each uses up one credit.
    virtual void on_delivery(DeliveryPtr delivery) = 0;

    /// The broker finished (or refused) the settlement of this delivery. Exactly once per `settle`,
    /// in any order; also for settlements that were unanswered when the link ended (code
    /// `lock_lost` or `connection_lost`: the outcome is unknown). `failure` is null on success.
    virtual void on_settled(Delivery& delivery, const Failure* failure) = 0;

    /// All credit is used up or taken back: no delivery follows until credit is added. Exactly once
    /// per `drain` unless the link ends first.
    virtual void on_drained() = 0;

    /// The lease may end sooner than was granted; a renewal shows.
    virtual void on_lease_doubted() {}

    /// The link ended without `close`: the lease is lost (R13). Terminal, at most once; nothing
    /// follows it but outstanding `on_settled`, which come first.
    virtual void on_lost(const Failure& reason) = 0;
};

/// A held session, or a message group that has the right to run: the lease and the flow of its
/// messages.
///
/// Everything is called on the link's loop; nothing blocks; every answer comes by a later turn of
/// the loop. A link may be destroyed from within its own events and handlers. Destroying a link
/// that was not closed closes it; no event or handler of it runs after that.
///
/// Requests run under a deadline and keep the promise that `Endpoint` makes of its own.
class SessionLink {
public:
    using DoneHandler = std::function<void(core::Result<core::Done>)>;
    using LockHandler = std::function<void(core::Result<LockGrant>)>;
    using StateHandler = std::function<void(core::Result<std::optional<std::string>>)>;
    using DeliveriesHandler = std::function<void(core::Result<std::vector<DeliveryPtr>>)>;

    virtual ~SessionLink() = default;

    [[nodiscard]] virtual const std::string& session_id() const noexcept = 0;

    /// The lease as the broker granted it when it answered the accept: its full length then. How
    /// long the answer travelled is for the holder to allow for.
    [[nodiscard]] virtual LockGrant initial_lock() const noexcept = 0;

    /// Who is told. Set once, before the first credit; outlives the link.
    virtual void set_events(LinkEvents& events) = 0;

    /// Allows `count` more deliveries.
    virtual void add_credit(std::uint32_t count) = 0;

    /// Asks the broker to use the credit up or give it back, answered by `on_drained`. Not while
    /// one is outstanding. Deliveries may still come before the answer. Adding credit while a drain
    /// is outstanding is not allowed.
    virtual void drain() = 0;

    /// Settles a delivery of this link; the delivery stays alive until `on_settled`. Settlements
    /// take effect in the order of the calls.
    virtual void settle(Delivery& delivery, Settlement settlement) = 0;

    virtual RequestId renew_lock(Deadline deadline, LockHandler handler) = 0;
    virtual RequestId get_state(Deadline deadline, StateHandler handler) = 0;
    /// No value clears the state.
    virtual RequestId set_state(std::optional<std::string> state, Deadline deadline,
                                DoneHandler handler) = 0;

    /// Deferred messages of this session by sequence number; they are settled like others. Fails
    /// with `message_not_found` when any is missing.
    virtual RequestId receive_deferred(std::vector<std::int64_t> sequence_numbers,
                                       Deadline deadline, DeliveriesHandler handler) = 0;

    /// Gives a request up. Unknown and finished ids are ignored.
    virtual void give_up(RequestId id) = 0;

    /// Gives the session back. What is unsettled becomes available again, uncounted. No event
    /// follows, except `on_settled` for settlements under way, before the handler. The lease is
    /// free no later than when an accept issued after this call on the same endpoint is looked at.
    virtual void close(DoneHandler handler) = 0;
};

using SessionLinkPtr = std::unique_ptr<SessionLink>;

} // namespace sessionq::ports
