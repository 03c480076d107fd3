// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include <sessionq/error.hpp>

#include "ports/enveloped_state.hpp"
#include "ports/own_locks.hpp"
#include "ports/session_link.hpp"

namespace sessionq::processor {

/// Whom a link's answers to settlements concern that no machine of the session decided: messages
/// that a handler asked for. The client implements it. Destroyed after the link it fails those
/// that are unanswered.
class AskedMessages {
public:
    virtual ~AskedMessages() = default;
    virtual void settled(ports::Delivery& delivery, const Failure* failure) = 0;
};

/// What the requests of a session's handlers use, on the loop.
struct SessionReach {
    ports::SessionLink* link; ///< null: the session is not held any more
    ports::EnvelopedState& state;
    ports::OwnLocks* own_locks; ///< null: messages have no locks of their own
    std::unique_ptr<AskedMessages>& asked;
};

} // namespace sessionq::processor
