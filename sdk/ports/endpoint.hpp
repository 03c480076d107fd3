#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/event_loop.hpp"
#include "core/result.hpp"
#include "ports/capabilities.hpp"
#include "ports/session_link.hpp"

namespace sessionq::ports {

/// How messages of a session are received.
enum class ReceiveMode : std::uint8_t { peek_lock, receive_and_delete };

struct AcceptRequest {
    std::string entity{};
    std::optional<std::string> session_id{}; ///< unset: whichever is available next
    ReceiveMode mode{ReceiveMode::peek_lock};
    Duration wait{}; ///< how long the broker may look for a session; zero: answer at once
    int priority{0}; ///< higher is served first (DG6); ports whose broker has none ignore it
    std::size_t buffer_bytes{0}; ///< what a port whose sessions share a link may hold of messages
                                 ///< that are not settled; zero: the port's default
    Deadline deadline{};
};

using AcceptHandler = std::function<void(core::Result<SessionLinkPtr>)>;

/// Messages on their way to an entity.
struct SendRequest {
    std::string entity{};
    std::vector<Message> messages{};
    Deadline deadline{};
};

using SendHandler = std::function<void(core::Result<std::vector<std::int64_t>>)>;
using DoneHandler = std::function<void(core::Result<core::Done>)>;

struct PeekRequest {
    std::string entity{};
    std::int64_t from_sequence_number{0};
    std::uint32_t max_messages{1};
    std::optional<std::string> session_id{}; ///< set: only this session's
    Deadline deadline{};
};

using PeekHandler = std::function<void(core::Result<std::vector<ReceivedMessage>>)>;

struct ListSessionsRequest {
    std::string entity{};
    std::uint32_t skip{0};
    std::uint32_t top{100};
    Deadline deadline{};
};

using ListSessionsHandler = std::function<void(core::Result<std::vector<std::string>>)>;

/// A kind of broker, as reached from one receive thread. One endpoint serves all entities; behind
/// it is a connection, several, or none.
///
/// Everything is called on `loop`; nothing blocks; every handler runs exactly once, by a later turn
/// of the loop, also when the endpoint is destroyed (then with `cancelled`, from the destructor).
/// Calls that need a capability the broker lacks fail with `not_supported`.
///
/// Every request has a deadline and fails with `timeout` when it passes. A request that is given up
/// fails with `cancelled`, unless its answer was on the way already. What has failed so before it
/// was sent is never sent. What was sent may have been carried out: the failure then says
/// `outcome_unknown`. A broker that takes a timeout is told what is left until the deadline.
class Endpoint {
public:
    virtual ~Endpoint() = default;

    [[nodiscard]] virtual core::EventLoop& loop() noexcept = 0;
    [[nodiscard]] virtual const Capabilities& capabilities() const noexcept = 0;

    /// Asks for a session. "None available" within `wait` is the failure `no_session_available`.
    /// `connection_refused` is said only once a connection has been tried again, and those tries
    /// are spaced by the port (R17): whoever is told may ask again at once.
    virtual RequestId accept(AcceptRequest request, AcceptHandler handler) = 0;

    /// Gives a request up. Its handler still runs exactly once. An accept may be answered with the
    /// session that crossed the request, which the caller then closes (R19). Unknown and finished
    /// ids are ignored.
    virtual void give_up(RequestId id) = 0;

    /// Sends all or none; answers with the sequence numbers where the broker tells them, else with
    /// as many zeros.
    virtual RequestId send(SendRequest request, SendHandler handler) = 0;

    /// Takes scheduled messages back before their time.
    virtual RequestId cancel_scheduled(std::string entity,
                                       std::vector<std::int64_t> sequence_numbers,
                                       Deadline deadline, DoneHandler handler) = 0;

    virtual RequestId peek(PeekRequest request, PeekHandler handler) = 0;

    /// Ids of sessions that have messages or state.
    virtual RequestId list_sessions(ListSessionsRequest request, ListSessionsHandler handler) = 0;
};

using EndpointPtr = std::unique_ptr<Endpoint>;

} // namespace sessionq::ports
