// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <list>
#include <optional>
#include <string>

#include "ports/session_link.hpp"
#include "ports/state_envelope.hpp"

namespace sessionq::ports {

/// The state of a locked session in its two parts: the application's, and this library's record
/// (see `StateEnvelope`). A change of one part keeps the other. Operations run one after another,
/// so none overwrites a state that another one has read. Before the application's state is set, the
/// record is read, unless it is known.
///
/// On the link's loop.
class EnvelopedState {
public:
    using StateHandler = SessionLink::StateHandler;
    using DoneHandler = SessionLink::DoneHandler;
    using RecordHandler = std::function<void(core::Result<std::string>)>;

    explicit EnvelopedState(SessionLink& link) noexcept : link_{&link} {}

    /// The application's state.
    RequestId get(Deadline deadline, StateHandler handler);
    RequestId set(std::optional<std::string> state, Deadline deadline, DoneHandler handler);

    /// The record. Empty: there is none.
    RequestId read_record(Deadline deadline, RecordHandler handler);
    RequestId write_record(std::string record, Deadline deadline, DoneHandler handler);

    /// The link is gone. Operations that it has not answered are not answered any more. Later ones
    /// fail with `lock_lost`.
    void drop() noexcept {
        link_ = nullptr;
        operations_.clear();
    }

    /// Gives an operation up. Its handler still runs once. Unknown and finished ids are ignored.
    void give_up(RequestId id);

private:
    using EnvelopeHandler = std::function<void(core::Result<StateEnvelope>)>;

    struct Operation {
        RequestId id;
        std::function<void()> begin;
        std::function<void(Failure)> fail;
    };

    template <typename Handler>
    RequestId add(std::function<void()> begin, Handler handler);
    void read(Deadline deadline, EnvelopeHandler handler);
    void write(StateEnvelope envelope, Deadline deadline, DoneHandler handler);
    void end(); ///< The first operation is done: the next one begins.

    SessionLink* link_;
    std::optional<std::string> record_{}; ///< as the broker has it; unset: not known
    std::list<Operation> operations_{};   ///< the first is under way
    RequestId request_{0};                ///< of the first, at the link
    RequestId last_id_{0};
};

} // namespace sessionq::ports
