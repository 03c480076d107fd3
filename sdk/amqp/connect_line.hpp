// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include "core/intrusive_list.hpp"
#include "core/reply_queue.hpp"

namespace sessionq::amqp {

/// Lets few connections be made at a time; the others wait in line. A broker bounds how many
/// handshakes it has with one address, and would drop those of a client that needs a hundred
/// connections at once. Bound to the loop.
class ConnectLine {
public:
    static constexpr std::size_t most_at_once = 8;

    /// A connection. Its owner calls `leave` before it is destroyed.
    class Guest : public core::ListHook<Guest> {
    public:
        virtual void on_let_in() = 0;

    protected:
        virtual ~Guest() = default;

    private:
        friend class ConnectLine;
        bool is_inside_{false};
    };

    explicit ConnectLine(core::EventLoop& loop) : turns_{loop} {}

    /// Returns whether the connection may be made now. If not, `on_let_in` is called by a later
    /// turn of the loop, when it may.
    [[nodiscard]] bool enter(Guest& guest) noexcept {
        if (inside_ == most_at_once || !waiting_.empty()) {
            waiting_.push_back(guest);
            return false;
        }
        let_in(guest);
        return true;
    }
    /// The connection is made, has failed, or is not wanted any more. Again: no effect.
    void leave(Guest& guest) {
        guest.unlink();
        if (std::exchange(guest.is_inside_, false)) {
            --inside_;
            if (!waiting_.empty()) {
                turns_.push([this] { let_others_in(); });
            }
        }
    }

private:
    void let_in(Guest& guest) noexcept {
        guest.is_inside_ = true;
        ++inside_;
    }
    void let_others_in() {
        while (inside_ < most_at_once && !waiting_.empty()) {
            Guest& next = *waiting_.pop_front();
            let_in(next);
            next.on_let_in();
        }
    }

    core::IntrusiveList<Guest, Guest> waiting_{};
    std::size_t inside_{0};
    core::ReplyQueue turns_;
};

} // namespace sessionq::amqp
