// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>

#include "core/intrusive_list.hpp"

namespace sessionq::core {

class ReceiveShare;

/// Decides how many bytes the peers of a receive thread may send without being asked again, so that
/// buffered messages of any size stay within the budgets of its users (R23). An AMQP session has a
/// share of it. Bound to the loop.
class ReceiveRoom {
public:
    /// Where no user has named a budget.
    static constexpr std::size_t usual = std::size_t{64} << 20U;

    /// A user may keep so many more bytes from now on, or no more.
    void join(std::size_t bytes) noexcept;
    void part(std::size_t bytes) noexcept { joined_ -= std::min(joined_, bytes); }

    [[nodiscard]] std::size_t budget() const noexcept { return joined_ != 0 ? joined_ : usual; }
    /// Bytes of messages that are kept, and of those that have begun to arrive.
    [[nodiscard]] std::size_t kept() const noexcept { return kept_; }
    /// Bytes that peers may send as they were told.
    [[nodiscard]] std::size_t announced() const noexcept { return announced_; }

private:
    friend class ReceiveShare;

    using Line = IntrusiveList<ReceiveShare>;

    [[nodiscard]] std::size_t left() const noexcept { return budget() - std::min(budget(), kept_); }
    /// The even part of one share.
    [[nodiscard]] std::size_t fair() const noexcept {
        return left() / std::max<std::size_t>(shares_, 1);
    }
    /// Bytes that no peer was told of.
    [[nodiscard]] std::size_t free() const noexcept {
        return left() - std::min(left(), announced_);
    }
    /// The line in which a share waits whose peer may send so many frames.
    [[nodiscard]] Line& line_of(std::size_t frames) noexcept {
        return waiting_[std::min<std::size_t>(std::bit_width(frames), waiting_.size() - 1)];
    }
    /// There may be room for shares that wait for it.
    void look() noexcept;

    std::size_t joined_{0};
    std::size_t kept_{0};
    std::size_t announced_{0};
    std::size_t shares_{0};
    /// By the bit width of the frames that the peer may send. As a peer is told of more only where
    /// that doubles them, each line needs more room than those before it. So a look ends at the
    /// first line that there is no room for, and does not visit all shares.
    std::array<Line, 16> waiting_{};
};

using ReceiveRoomPtr = std::shared_ptr<ReceiveRoom>;

/// Tells a peer of room. Called from the call that made the room.
class RoomWaiter {
public:
    virtual void on_room() = 0;

protected:
    ~RoomWaiter() = default;
};

/// The share of a room that one AMQP session has. An owner that keeps messages that came over it
/// says so with `arrived` and `gone`, also after the session's end. Bound to the loop.
class ReceiveShare : public ListHook<> {
public:
    /// Each of the session's links may have one message even beyond the budget, or nothing would
    /// move. Its peer may send so many bytes towards them without being asked again.
    static constexpr std::size_t least = std::size_t{256} << 10U;

    /// `frame_bytes`: the most bytes that one frame may hold. Above zero, and the same for all
    /// shares of a room.
    ReceiveShare(ReceiveRoomPtr room, RoomWaiter& waiter, std::size_t frame_bytes) noexcept
        : room_{std::move(room)}, waiter_{&waiter}, frame_bytes_{frame_bytes} {
        ++room_->shares_;
    }
    ~ReceiveShare() {
        close();
        room_->kept_ -= kept_;
    }
    ReceiveShare(const ReceiveShare&) = delete;
    ReceiveShare& operator=(const ReceiveShare&) = delete;

    /// The AMQP session is gone.
    void close() noexcept {
        if (std::exchange(waiter_, nullptr) != nullptr) {
            unlink();
            --room_->shares_;
            room_->announced_ -= std::exchange(announced_, 0);
            room_->look();
        }
    }

    /// Frames that the peer may be told of, beyond those that it was told of.
    [[nodiscard]] std::size_t affordable() const noexcept { return spare() / frame_bytes_; }
    /// Whether the peer is to be told of that, because it doubles the room that the peer has. If
    /// not, `on_room` follows as soon as it is.
    [[nodiscard]] bool has_room() noexcept {
        const bool has = is_worth_telling();
        if (has) {
            unlink();
        } else if (waiter_ != nullptr && !is_linked()) {
            line_up();
        }
        return has;
    }
    /// How many links the session has.
    void set_links(std::size_t links) noexcept { links_ = links; }

    /// The peer is told of so many more frames.
    void announce(std::size_t frames) noexcept {
        announced_ += frames * frame_bytes_;
        room_->announced_ += frames * frame_bytes_;
        change_line();
        if (announced_ < least) {
            static_cast<void>(has_room()); // it may have to hear of more
        }
    }
    /// It has used one of them.
    void use() noexcept {
        const std::size_t used = std::min(announced_, frame_bytes_);
        announced_ -= used;
        room_->announced_ -= used;
        change_line();
    }

    /// A part of a message came.
    void part_came(std::size_t bytes) noexcept { keep(bytes); }
    /// So many bytes of parts are a message now, or dropped.
    void parts_gone(std::size_t bytes) noexcept { let_go(bytes); }
    /// A message came and is kept.
    void arrived(std::size_t bytes) noexcept {
        ++messages_;
        keep(bytes);
    }
    /// It is kept no longer.
    void gone(std::size_t bytes) noexcept {
        messages_ -= std::min<std::size_t>(messages_, 1);
        let_go(bytes);
    }

private:
    friend class ReceiveRoom;

    [[nodiscard]] std::size_t spare() const noexcept {
        const std::size_t fair = room_->fair();
        const std::size_t more = fair > announced_ ? std::min(fair - announced_, room_->free()) : 0;
        const std::size_t due = messages_ < links_ && announced_ < least ? least - announced_ : 0;
        return std::max(more, due);
    }
    /// Whether the room may double so many frames of a peer, or give it a first one.
    [[nodiscard]] bool may_double(std::size_t frames) const noexcept {
        const std::size_t more = std::max<std::size_t>(frames, 1) * frame_bytes_;
        return room_->free() >= more && room_->fair() >= frames * frame_bytes_ + more;
    }
    [[nodiscard]] bool is_worth_telling() const noexcept {
        const std::size_t more = affordable();
        return more != 0 && more * frame_bytes_ >= announced_;
    }
    void line_up() noexcept { room_->line_of(announced_ / frame_bytes_).push_back(*this); }
    void change_line() noexcept {
        if (is_linked()) {
            unlink();
            line_up();
        }
    }
    /// There may be room for this share.
    void look() noexcept {
        if (is_linked() && is_worth_telling()) {
            unlink();
            waiter_->on_room();
        }
    }
    void keep(std::size_t bytes) noexcept {
        kept_ += bytes;
        room_->kept_ += bytes;
    }
    void let_go(std::size_t bytes) noexcept {
        const std::size_t less = std::min(kept_, bytes);
        kept_ -= less;
        room_->kept_ -= less;
        look(); // one of its links may have no message any more
        room_->look();
    }

    const ReceiveRoomPtr room_;
    RoomWaiter* waiter_; // null: the AMQP session is gone
    const std::size_t frame_bytes_;
    std::size_t links_{0};
    std::size_t messages_{0};
    std::size_t kept_{0};
    std::size_t announced_{0};
};

/// Null: kept messages are not counted.
using ReceiveSharePtr = std::shared_ptr<ReceiveShare>;

inline void ReceiveRoom::join(std::size_t bytes) noexcept {
    joined_ += bytes;
    look();
}

inline void ReceiveRoom::look() noexcept {
    for (std::size_t width = 0; width < waiting_.size(); ++width) {
        ReceiveShare* each = waiting_[width].front();
        const std::size_t fewest_frames = (std::size_t{1} << width) / 2;
        if (each != nullptr && !each->may_double(fewest_frames)) {
            return;
        }
        while (each != nullptr) {
            ReceiveShare* const next = waiting_[width].next(*each);
            each->look();
            each = next;
        }
    }
}

} // namespace sessionq::core
