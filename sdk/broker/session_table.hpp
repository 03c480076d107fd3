// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/session.hpp"
#include "core/session_id.hpp"

namespace sessionq::broker {

/// The sessions of an entity: by id, in the order in which they appeared, and those ready to be
/// accepted. Ids that differ in case only are one session. It is listed as it was named first.
class SessionTable {
public:
    [[nodiscard]] Session* find(std::string_view id) noexcept;

    /// Finds the session with this id, or makes it.
    Session& obtain(std::string_view id);

    /// The session that has been ready longest; null if none is ready.
    [[nodiscard]] Session* first_ready() const noexcept { return ready_.front(); }

    /// Updates the table after a change of the session's messages, state or holder. A session is
    /// ready if it has available messages and no holder. One that becomes ready goes behind those
    /// that are ready. A session with no messages, state or holder is removed.
    void refresh(Session& session, TimePoint now);

    /// How many are ready.
    [[nodiscard]] std::size_t ready() const noexcept { return ready_count_; }

    /// Sets or clears the session's state.
    void set_state(Session& session, std::unique_ptr<std::string> state, WallTime now);

    /// Shows the session in lists if it has messages or state. Needed after each change of these.
    void update_lists(Session& session) noexcept {
        order_.show(session, !session.messages.empty() || session.state);
    }

    /// The ids of sessions with messages or state, oldest session first.
    [[nodiscard]] std::vector<std::string> list(std::size_t skip, std::size_t top) const {
        return order_.list(skip, top);
    }
    /// The ids of sessions whose state was set after `since`, in the order in which it was.
    [[nodiscard]] std::vector<std::string> list_set_after(WallTime since, std::size_t skip,
                                                          std::size_t top) const {
        return by_state_.list_from(
            [since](const Session& session) { return session.state_set_at <= since; }, skip, top);
    }

    [[nodiscard]] std::size_t size() const noexcept { return by_id_.size(); }

    /// The oldest session, and the one after `session`; null if there is none.
    [[nodiscard]] Session* oldest() const noexcept { return order_.oldest(); }
    [[nodiscard]] Session* after(const Session& session) const noexcept {
        return order_.after(session);
    }

private:
    std::unordered_map<std::string, Session, core::SessionIdHash, core::SessionIdEqual> by_id_;
    SessionOrder order_{&Session::position};
    SessionOrder by_state_{&Session::place_by_state}; // those with state, by when it was set
    WallTime last_set_{};
    // In the order in which they became ready: a session that failed and was given back does not
    // come before one that has waited longer. Restored sessions become ready in the order of their
    // oldest messages.
    core::IntrusiveList<Session, ReadyTag> ready_;
    std::size_t ready_count_{0};
};

} // namespace sessionq::broker
