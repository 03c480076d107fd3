// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <sessionq/rule.hpp>

#include "core/connection_counts.hpp"
#include "core/connection_status.hpp"
#include "core/event_loop.hpp"
#include "core/result.hpp"
#include "ports/capabilities.hpp"
#include "ports/session_link.hpp"

namespace sessionq::ports {

/// How messages of a session are received.
enum class ReceiveMode : std::uint8_t { peek_lock, receive_and_delete };

/// The messages that a link is to hold.
enum class Scope : std::uint8_t {
    session, ///< one session
    entity,  ///< a share in the messages of an entity without sessions
};

struct AcceptRequest {
    std::string entity{};
    /// With `entity` the accept is answered at once, with `session_required` if the entity has
    /// sessions. `further_entities`, `session_id` and `wait` have no meaning then. Needs
    /// `plain_entities`.
    Scope scope{Scope::session};
    /// More entities for the same accept. The first entity that has a session answers, and the
    /// others are not asked any more. `SessionLink::entity_index` tells which one it was. If
    /// several have one when asked, they take turns. All names differ. Needs `accept_any_entity`;
    /// not with `session_id`.
    std::vector<std::string> further_entities{};
    std::optional<std::string> session_id{}; ///< unset: the next available session
    ReceiveMode mode{ReceiveMode::peek_lock};
    Duration wait{}; ///< how long the broker may wait for a session; zero: answer at once
    int priority{0}; ///< higher is served first (DG6); ignored by brokers without priorities
    std::size_t buffer_bytes{0}; ///< the budget for unsettled messages where sessions share a link;
                                 ///< zero: the port's default
    FirstCredit first{};         ///< given to the session's link without waiting for it
    Deadline deadline{};
};

using AcceptHandler = std::function<void(core::Result<SessionLinkPtr>)>;

/// Messages to send to an entity.
struct SendRequest {
    std::string entity{};
    std::vector<Message> messages{};
    /// Messages to send as they are, in place of `messages`. Contents in AMQP's form keep every
    /// byte.
    std::vector<MessageContentPtr> contents{};
    Deadline deadline{};

    [[nodiscard]] std::size_t size() const noexcept { return messages.size() + contents.size(); }
};

/// How much one send to an entity may have, in AMQP's form. Zero: the broker names no limit.
struct SendingLimit {
    std::uint64_t message_bytes{0};  ///< of one message
    std::uint64_t bytes{0};          ///< of several together
    std::uint32_t beside_message{0}; ///< added to each message by this port's form, at most
};

using SendingLimitHandler = std::function<void(core::Result<SendingLimit>)>;
using SendHandler = std::function<void(core::Result<std::vector<std::int64_t>>)>;
using DoneHandler = std::function<void(core::Result<core::Done>)>;

struct PeekRequest {
    std::string entity{};
    std::int64_t from_sequence_number{0};
    std::uint32_t max_messages{1};
    std::optional<std::string> session_id{}; ///< set: messages of this session only
    /// How long the broker may wait for a first message. Zero: answer at once. A broker that cannot
    /// wait that long answers earlier, with none.
    Duration wait{};
    Deadline deadline{};
};

using PeekHandler = std::function<void(core::Result<std::vector<ReceivedMessage>>)>;

struct ListSessionsRequest {
    std::string entity{};
    std::uint32_t skip{0};
    std::uint32_t top{100};
    /// Set: only sessions whose state was set after it.
    std::optional<WallTime> state_set_after{};
    Deadline deadline{};
};

using ListSessionsHandler = std::function<void(core::Result<std::vector<std::string>>)>;

/// Deletes messages that no consumer has received, the oldest first.
struct DeleteMessagesRequest {
    std::string entity{};
    std::uint32_t max_messages{1};
    /// Only messages that were enqueued before it. Unset: all that are there now.
    std::optional<WallTime> enqueued_before{};
    std::optional<std::string> session_id{}; ///< set: messages of this session only
    Deadline deadline{};
};

struct DeletedMessages {
    std::uint32_t count{0}; ///< zero: there are no more
    /// The instant that the request named, or that the port chose.
    WallTime enqueued_before{};
};

using DeletedHandler = std::function<void(core::Result<DeletedMessages>)>;

struct AddRule {
    Rule rule{};
};
struct RemoveRule {
    std::string name{};
};
struct ListRules {
    std::uint32_t skip{0};
    std::uint32_t top{100};
};
/// An operation on the rules of a subscription.
using RulesTask = std::variant<AddRule, RemoveRule, ListRules>;

struct RulesRequest {
    std::string entity{};
    RulesTask task{};
    Deadline deadline{};
};

using RulesHandler = std::function<void(core::Result<std::vector<Rule>>)>;

/// Sessions that could be granted now.
struct ReadySessions {
    std::size_t count{0};
    TimePoint since{TimePoint::max()}; ///< of the session that waits longest; max: there is none
};

/// A broker as one receive thread reaches it. One endpoint serves all entities, over a connection,
/// several, or none.
///
/// Everything is called on `loop`; nothing blocks; every handler runs exactly once, by a later turn
/// of the loop, also when the endpoint is destroyed (then with `cancelled`, from the destructor).
/// Calls that need a capability the broker lacks fail with `not_supported`.
///
/// Every request has a deadline and fails with `timeout` when it passes. A request that is given up
/// fails with `cancelled`, unless its answer was on the way already. A request that has failed so
/// before it was sent is never sent. One that was sent may have been carried out: the failure then
/// says `outcome_unknown`. A broker that takes a timeout is told the time left until the deadline.
class Endpoint {
public:
    virtual ~Endpoint() = default;

    [[nodiscard]] virtual core::EventLoop& loop() noexcept = 0;
    [[nodiscard]] virtual const Capabilities& capabilities() const noexcept = 0;

    /// Appends the status of each connection, in the same order each time. Without a network there
    /// is none.
    virtual void add_status(std::vector<core::ConnectionStatus>& /*into*/) const {}
    /// The counts of its connections; null: there are none. Any thread may ask.
    [[nodiscard]] virtual const core::ConnectionCounts* connections() const noexcept {
        return nullptr;
    }

    /// From now on a user of sessions keeps up to so many bytes of their messages, or does so no
    /// longer. The peer is told to send no more than fits. Messages in this process take no room.
    virtual void add_budget(std::size_t /*bytes*/) {}
    virtual void remove_budget(std::size_t /*bytes*/) {}

    /// Asks for a session. Fails with `no_session_available` if there is none within `wait`. An
    /// accept of several entities fails as soon as one of them cannot be received from; the
    /// failure's detail names it. The port spaces its attempts to connect (R17), so a caller may
    /// ask again at once after `connection_refused`.
    virtual RequestId accept(AcceptRequest request, AcceptHandler handler) = 0;

    /// The sessions of an entity that could be granted now. Unset: the broker does not report them.
    /// The port knows the answer, so no request is made.
    [[nodiscard]] virtual std::optional<ReadySessions> ready_sessions(
        const std::string& /*entity*/) {
        return std::nullopt;
    }

    /// Gives a request up. Its handler still runs exactly once. An accept may be answered with the
    /// session that crossed the request, which the caller then closes (R19). Unknown and finished
    /// ids are ignored.
    virtual void give_up(RequestId id) = 0;

    /// Asks how much may be sent to the entity at once.
    virtual RequestId sending_limit(std::string entity, Deadline deadline,
                                    SendingLimitHandler handler) = 0;

    /// Sends all messages or none. If they exceed the limit of a send together, nothing is sent
    /// (message_too_large). Answers with their sequence numbers, or with zeros if the broker
    /// does not tell them.
    virtual RequestId send(SendRequest request, SendHandler handler) = 0;

    /// Takes scheduled messages back before they are delivered.
    virtual RequestId cancel_scheduled(std::string entity,
                                       std::vector<std::int64_t> sequence_numbers,
                                       Deadline deadline, DoneHandler handler) = 0;

    virtual RequestId peek(PeekRequest request, PeekHandler handler) = 0;

    /// Lists the ids of sessions that have messages or state.
    virtual RequestId list_sessions(ListSessionsRequest request, ListSessionsHandler handler) = 0;

    /// Deletes up to `max_messages`, and maybe fewer than there are. A request that failed with
    /// `outcome_unknown` may have deleted some.
    virtual RequestId delete_messages(DeleteMessagesRequest request, DeletedHandler handler) = 0;

    /// Changes or lists a subscription's rules. Only a list answers with rules. Fails with
    /// `not_supported` if the entity is no subscription, `duplicate_entity` if a rule has this name
    /// already, `entity_not_found` if no rule has it, or `invalid_argument` if the rule is wrong.
    virtual RequestId manage_rules(RulesRequest request, RulesHandler handler) = 0;
};

using EndpointPtr = std::unique_ptr<Endpoint>;

} // namespace sessionq::ports
