#pragma once

#include "amqp/connection.hpp"
#include "core/intrusive_list.hpp"

namespace sessionq::server {

/// Links that wait until more can be sent to the peer. It reads too slowly for them: the connection
/// or a session's window is full. They are told when bytes have left, which is all that makes room.
/// On the loop.
class SendRoom {
public:
    /// Leaves by itself when it is destroyed.
    class Waiter : public core::ListHook<Waiter> {
    public:
        virtual void resume() = 0;

    protected:
        ~Waiter() = default;
    };

    explicit SendRoom(amqp::Connection& connection) noexcept : connection_{connection} {}

    [[nodiscard]] bool is_full() noexcept { return connection_.is_congested(); }

    /// `resume` is called once, when there may be room.
    void await(Waiter& waiter) noexcept {
        if (!waiter.is_linked()) {
            waiting_.push_back(waiter);
        }
        connection_.await_writable();
    }

    void resume() {
        core::IntrusiveList<Waiter, Waiter> now;
        now.splice_back(waiting_);
        while (Waiter* const next = now.pop_front()) { // each may end others
            next->resume();
        }
    }

private:
    amqp::Connection& connection_;
    core::IntrusiveList<Waiter, Waiter> waiting_{};
};

} // namespace sessionq::server
