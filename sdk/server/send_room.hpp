// SPDX-License-Identifier: MIT
#pragma once

#include "amqp/connection.hpp"
#include "core/intrusive_list.hpp"

namespace sessionq::server {

/// Links that wait until more can be sent to the peer. It reads too slowly for them: the connection
/// or a session's window is full. They are told when bytes have left or come, because a flow may
/// have opened the window. Or the peer has too many messages that it has not settled; then a link
/// gets no more while it has some of them. On the loop.
class SendRoom {
public:
    /// Leaves by itself when it is destroyed.
    class Waiter : public core::ListHook<Waiter> {
    public:
        virtual void resume() = 0;

    protected:
        ~Waiter() = default;
    };

    /// `most_memory`: bound on the memory that the connection may take. Unsettled messages may take
    /// half of it, at 512 bytes each.
    SendRoom(amqp::Connection& connection, std::size_t most_memory) noexcept
        : connection_{connection}, most_memory_{most_memory}, most_unsettled_{most_memory / 1024} {}

    /// The peer has so many more messages that it has not settled.
    void change_unsettled(std::ptrdiff_t by) noexcept {
        unsettled_ += static_cast<std::size_t>(by);
    }
    [[nodiscard]] std::size_t unsettled() const noexcept { return unsettled_; }
    /// Messages wait for settlements. Requests do not.
    [[nodiscard]] bool is_unsettled() const noexcept { return unsettled_ >= most_unsettled_; }

    /// Messages wait. Half of the memory is left to requests and their answers.
    [[nodiscard]] bool is_full() noexcept { return connection_.is_congested() || is_large(); }
    /// Bytes that wait for the peer's credit, or for room.
    [[nodiscard]] std::size_t unread() noexcept { return connection_.engine().held(); }

    /// `resume` is called once, when there may be room.
    void await(Waiter& waiter) noexcept {
        if (!waiter.is_linked()) {
            waiting_.push_back(waiter);
        }
        connection_.await_writable();
    }

    /// The same, once enough messages are settled.
    void await_settled(Waiter& waiter) noexcept {
        if (!waiter.is_linked()) {
            until_settled_.push_back(waiter);
        }
        connection_.await_writable();
    }

    /// The waiter need not wait for settlements any more.
    void resume_soon(Waiter& waiter) noexcept {
        if (waiter.is_linked()) {
            until_settled_.remove(waiter);
            await(waiter);
        }
    }

    void resume() {
        core::IntrusiveList<Waiter, Waiter> now;
        now.splice_back(waiting_);
        if (!is_unsettled()) {
            now.splice_back(until_settled_);
        } else if (!until_settled_.empty()) {
            connection_.await_writable();
        }
        while (Waiter* const next = now.pop_front()) { // each may end others
            next->resume();
        }
    }

private:
    /// Memory that is only kept for traffic to come does not count. It goes first: no byte would
    /// leave and tell the waiting links.
    [[nodiscard]] bool is_large() noexcept {
        const std::size_t most = most_memory_ / 2;
        if (connection_.memory() <= most) {
            return false;
        }
        connection_.trim();
        return connection_.memory() > most;
    }

    amqp::Connection& connection_;
    const std::size_t most_memory_;
    const std::size_t most_unsettled_;
    std::size_t unsettled_{0};
    core::IntrusiveList<Waiter, Waiter> waiting_{};
    core::IntrusiveList<Waiter, Waiter> until_settled_{};
};

} // namespace sessionq::server
