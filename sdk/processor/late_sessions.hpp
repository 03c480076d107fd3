#pragma once

#include <list>

#include "core/event_loop.hpp"
#include "ports/session_link.hpp"

namespace sessionq::processor {

/// Gives back sessions that came after their accept had been given up (R19). Each is closed in
/// order; one that the broker does not let go of in time is dropped, which gives it back too. On
/// one loop.
class LateSessions {
public:
    /// The loop is woken when the broker has answered: then a `sweep` is due.
    LateSessions(core::EventLoop& loop, Duration patience) : loop_{loop}, patience_{patience} {}

    void give_back(ports::SessionLinkPtr link);

    /// Forgets what has been given back, and what took too long.
    void sweep();

    /// Drops all of them now.
    void clear() noexcept { links_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return links_.empty(); }

private:
    struct Late {
        ports::SessionLinkPtr link;
        TimePoint until;
        bool closed{false};
    };

    core::EventLoop& loop_;
    const Duration patience_;
    std::list<Late> links_{};
};

} // namespace sessionq::processor
