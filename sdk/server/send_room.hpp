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

    /// `most_memory`: bound on the memory that the connection may take.
    SendRoom(amqp::Connection& connection, std::size_t most_memory) noexcept
        : connection_{connection}, most_memory_{most_memory} {}

    /// Messages wait. Half of the memory is left to requests and their answers.
    [[nodiscard]] bool is_full() noexcept {
        return connection_.is_congested() || connection_.memory() > most_memory_ / 2;
    }
    /// Bytes that wait for the peer's credit, or for room.
    [[nodiscard]] std::size_t unread() noexcept { return connection_.engine().held(); }

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
    const std::size_t most_memory_;
    core::IntrusiveList<Waiter, Waiter> waiting_{};
};

} // namespace sessionq::server
