// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <list>
#include <optional>
#include <string>

#include "ports/session_link.hpp"
#include "ports/state_envelope.hpp"

namespace sessionq::ports {

/// Reads and writes the state of a locked session in its two parts: the application's state, and
/// this library's record (see `StateEnvelope`). Each `HeldLink` has one. A handler or a receiver
/// asks for the application's state. A processor's `RecordKeeper` asks for the record.
///
/// A write of one part keeps the other part. Operations run one after another, so no write is based
/// on an outdated state. A write of the application's state reads the record first, unless the
/// record is known.
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

    /// The link is gone. Unanswered operations stay unanswered. Later ones fail with `lock_lost`.
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
    void end(); ///< Ends the first operation, and begins the next one.

    SessionLink* link_;
    std::optional<std::string> record_{}; ///< as the broker has it; unset: not known
    std::list<Operation> operations_{};   ///< the first is under way
    RequestId request_{0};                ///< the link's id of the first operation's request
    RequestId last_id_{0};
};

} // namespace sessionq::ports
