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

/// The messages that a link holds.
enum class Scope : std::uint8_t {
    session, ///< one session
    entity,  ///< a share in the messages of an entity without sessions
};

/// Parameters of `Endpoint::accept`.
struct AcceptRequest {
    std::string entity{};
    /// With `Scope::entity`, the accept is answered at once. It fails with `session_required` if
    /// the entity has sessions. `further_entities`, `session_id` and `wait` are ignored.
    /// `Scope::entity` needs the capability `plain_entities`.
    Scope scope{Scope::session};
    /// More entities. The first entity that has a session answers the accept, and the other
    /// entities are not asked any more. `SessionLink::entity_index` tells which entity answered. If
    /// several entities have a session when asked, they take turns. All names differ. Needs the
    /// capability `accept_any_entity`. Must be empty if `session_id` is set.
    std::vector<std::string> further_entities{};
    std::optional<std::string> session_id{}; ///< unset: the next available session
    ReceiveMode mode{ReceiveMode::peek_lock};
    Duration wait{}; ///< how long the broker may wait for a session; zero: answer at once
    int priority{0}; ///< higher is served first (DG6); ignored by brokers without priorities
    std::size_t buffer_bytes{0}; ///< the budget for unsettled messages where sessions share a link;
                                 ///< zero: the port's default
    FirstCredit first{};         ///< goes out with the accept
    Deadline deadline{};
};

using AcceptHandler = std::function<void(core::Result<SessionLinkPtr>)>;

/// Parameters of `Endpoint::send`.
struct SendRequest {
    std::string entity{};
    std::vector<Message> messages{};
    /// Messages that are sent unchanged, in place of `messages`. A message in AMQP's form is sent
    /// byte for byte.
    std::vector<MessageContentPtr> contents{};
    Deadline deadline{};

    [[nodiscard]] std::size_t size() const noexcept { return messages.size() + contents.size(); }
};

/// How much one send to an entity may carry, counted in AMQP's form. `Endpoint::sending_limit`
/// answers with it. A `MessageBatch` and a redrive fill their requests up to the limit. Zero: the
/// broker names no limit.
struct SendingLimit {
    std::uint64_t message_bytes{0};  ///< the most bytes of one message
    std::uint64_t bytes{0};          ///< the most bytes of several messages together
    std::uint32_t beside_message{0}; ///< added to each message by this port's form, at most
};

using SendingLimitHandler = std::function<void(core::Result<SendingLimit>)>;
using SendHandler = std::function<void(core::Result<std::vector<std::int64_t>>)>;
using DoneHandler = std::function<void(core::Result<core::Done>)>;

/// Parameters of `Endpoint::peek`.
struct PeekRequest {
    std::string entity{};
    std::int64_t from_sequence_number{0};
    std::uint32_t max_messages{1};
    std::optional<std::string> session_id{}; ///< set: messages of this session only
    /// How long the broker may wait for the first message. Zero: it answers at once. A broker that
    /// cannot wait so long answers earlier, without a message.
    Duration wait{};
    Deadline deadline{};
};

using PeekHandler = std::function<void(core::Result<std::vector<ReceivedMessage>>)>;

/// Parameters of `Endpoint::list_sessions`, which answers with one page of the list.
struct ListSessionsRequest {
    std::string entity{};
    std::uint32_t skip{0};
    std::uint32_t top{100};
    /// Set: only sessions whose state was set after it.
    std::optional<WallTime> state_set_after{};
    Deadline deadline{};
};

using ListSessionsHandler = std::function<void(core::Result<std::vector<std::string>>)>;

/// Parameters of `Endpoint::delete_messages`. The broker deletes messages that no consumer has
/// received, the oldest first.
struct DeleteMessagesRequest {
    std::string entity{};
    std::uint32_t max_messages{1};
    /// Only messages that were enqueued before it. Unset: all that are there now.
    std::optional<WallTime> enqueued_before{};
    std::optional<std::string> session_id{}; ///< set: messages of this session only
    Deadline deadline{};
};

/// The answer of `Endpoint::delete_messages`. A purge repeats the request until `count` is zero or
/// the purge's limit is reached. Too many small counts in a row fail it (`PurgeProgress`).
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

/// Parameters of `Endpoint::manage_rules`.
struct RulesRequest {
    std::string entity{};
    RulesTask task{};
    Deadline deadline{};
};

using RulesHandler = std::function<void(core::Result<std::vector<Rule>>)>;

/// How many sessions of an entity the broker could grant now, and since when. A processor reads it
/// to share its slots fairly.
struct ReadySessions {
    std::size_t count{0};
    TimePoint since{TimePoint::max()}; ///< when the oldest became ready; max: there is none
};

/// Connects one receive thread to a broker. The port to the broker implements it. A client makes an
/// endpoint for each of its receive threads. The client's calls and the processor make their
/// requests here: they accept sessions, and send, peek and delete messages. One endpoint serves all
/// entities. It uses one connection, several connections, or none.
///
/// Every call runs on `loop`, and nothing blocks. Every handler runs exactly once, by a later turn
/// of the loop. The destructor runs the handlers that are left, with `cancelled`. A call fails with
/// `not_supported` if it needs a capability that the broker lacks.
///
/// Every request has a deadline, and fails with `timeout` when the deadline passes. A request that
/// is given up fails with `cancelled`, unless its answer was on the way already. Either failure may
/// come before the request was sent. Then the request is never sent. If the request was sent, the
/// broker may have carried it out, and the failure says `outcome_unknown`. A broker that takes a
/// timeout is told the time left until the deadline.
class Endpoint {
public:
    virtual ~Endpoint() = default;

    [[nodiscard]] virtual core::EventLoop& loop() noexcept = 0;
    [[nodiscard]] virtual const Capabilities& capabilities() const noexcept = 0;

    /// Appends the status of each connection, always in the same order. Without a network: none.
    virtual void add_status(std::vector<core::ConnectionStatus>& /*into*/) const {}
    /// The counts of the endpoint's connections; null: it has none. Any thread.
    [[nodiscard]] virtual const core::ConnectionCounts* connections() const noexcept {
        return nullptr;
    }

    /// `add_budget` raises the port's budget for received messages by `bytes`, and `remove_budget`
    /// lowers it. A processor's shard calls them with its own budget. The port tells the peer to
    /// send no more than fits. A port whose messages are in this process ignores both calls.
    virtual void add_budget(std::size_t /*bytes*/) {}
    virtual void remove_budget(std::size_t /*bytes*/) {}

    /// Asks for a session. Fails with `no_session_available` if no session is available within
    /// `wait`. An accept of several entities fails as soon as one of the entities cannot be
    /// received from, and the failure's detail names that entity. The port spaces its attempts to
    /// connect (R17), so a caller may ask again at once after `connection_refused`.
    virtual RequestId accept(AcceptRequest request, AcceptHandler handler) = 0;

    /// Returns the sessions of an entity that the broker could grant now. Unset: the broker does
    /// not tell. Makes no request.
    [[nodiscard]] virtual std::optional<ReadySessions> ready_sessions(
        const std::string& /*entity*/) {
        return std::nullopt;
    }

    /// Gives a request up. Its handler still runs exactly once. If a session was granted meanwhile,
    /// an accept may be answered with that session. The caller then closes the session (R19).
    /// Unknown and finished ids are ignored.
    virtual void give_up(RequestId id) = 0;

    /// Asks how much one send to the entity may carry.
    virtual RequestId sending_limit(std::string entity, Deadline deadline,
                                    SendingLimitHandler handler) = 0;

    /// Sends all messages or none. Fails with `message_too_large` if the messages together exceed
    /// the limit of a send. Answers with the sequence numbers of the messages, or with zeros if the
    /// broker does not tell the numbers.
    virtual RequestId send(SendRequest request, SendHandler handler) = 0;

    /// Takes scheduled messages back before they are delivered.
    virtual RequestId cancel_scheduled(std::string entity,
                                       std::vector<std::int64_t> sequence_numbers,
                                       Deadline deadline, DoneHandler handler) = 0;

    virtual RequestId peek(PeekRequest request, PeekHandler handler) = 0;

    /// Lists the ids of sessions that have messages or state.
    virtual RequestId list_sessions(ListSessionsRequest request, ListSessionsHandler handler) = 0;

    /// Deletes up to `max_messages`. The broker may delete fewer although more are left. A request
    /// that failed with `outcome_unknown` may have deleted some messages.
    virtual RequestId delete_messages(DeleteMessagesRequest request, DeletedHandler handler) = 0;

    /// Changes or lists the rules of a subscription. Only a list answers with rules. Fails with
    /// `not_supported` if the entity is not a subscription, and with `invalid_argument` if the rule
    /// is invalid. Fails with `duplicate_entity` if a rule has the name already, and with
    /// `entity_not_found` if no rule has the name.
    virtual RequestId manage_rules(RulesRequest request, RulesHandler handler) = 0;
};

using EndpointPtr = std::unique_ptr<Endpoint>;

} // namespace sessionq::ports
