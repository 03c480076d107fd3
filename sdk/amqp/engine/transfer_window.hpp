// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/receive_room.hpp"

namespace sessionq::amqp {

/// The two flow windows of a session, which count the frames of transfers (AMQP 1.0 part 2, section
/// 2.5.6). The peer's is this side's share of a room, if there is one.
class TransferWindow {
public:
    /// The most frames that this side lets the peer send without an answer.
    static constexpr std::uint32_t widest = 8192;
    /// This side keeps no window of its own for the frames that it sends.
    static constexpr std::uint32_t outgoing = 0x7fffffff;

    /// `frame_bytes`: the largest frame that the peer may send.
    TransferWindow(core::ReceiveRoomPtr room, core::RoomWaiter& waiter, std::size_t frame_bytes)
        : share_{room != nullptr
                     ? std::make_shared<core::ReceiveShare>(std::move(room), waiter, frame_bytes)
                     : nullptr} {}

    /// Null: there is no room.
    [[nodiscard]] const core::ReceiveSharePtr& share() const noexcept { return share_; }
    /// The session is gone.
    void close() noexcept {
        if (share_ != nullptr) {
            share_->close();
        }
    }

    /// The peer's begin or flow: the first id it did not have, and how many frames from there it
    /// takes.
    void peer_takes(std::uint32_t from, std::uint32_t window) noexcept {
        const std::uint32_t used = next_outgoing_ - from;
        room_ = window - (used < window ? used : window);
    }
    /// The id of the peer's next transfer, from its begin or flow.
    void peer_sends_from(std::uint32_t id) noexcept { next_incoming_ = id; }

    /// Frames that may be sent.
    [[nodiscard]] std::uint32_t room() const noexcept { return room_; }
    void sent() noexcept {
        ++next_outgoing_;
        --room_;
    }

    /// A transfer has come. False: the peer had no room for it.
    [[nodiscard]] bool received() noexcept {
        if (left_ == 0) {
            return false;
        }
        ++next_incoming_;
        --left_;
        if (share_ != nullptr) {
            share_->use();
        }
        return true;
    }
    /// The peer has used half of the window that it was told, and there is more to tell it. If
    /// there is none, the waiter hears as soon as there is.
    [[nodiscard]] bool wants_flow() noexcept {
        return left_ <= told_ / 2 && (share_ == nullptr || share_->has_room());
    }
    /// The window that a begin or flow is about to tell, for so many links.
    [[nodiscard]] std::uint32_t widen(std::size_t links) noexcept {
        std::size_t more = widest - left_;
        if (share_ != nullptr) {
            share_->set_links(links);
            more = std::min(more, share_->affordable());
            share_->announce(more);
        }
        told_ = left_ += static_cast<std::uint32_t>(more);
        return told_;
    }

    /// A part of a message came.
    void part_came(std::size_t bytes) noexcept {
        if (share_ != nullptr) {
            share_->part_came(bytes);
        }
    }
    /// So many bytes of parts are a message now, or dropped.
    void parts_gone(std::size_t bytes) noexcept {
        if (share_ != nullptr) {
            share_->parts_gone(bytes);
        }
    }

    [[nodiscard]] std::uint32_t next_incoming() const noexcept { return next_incoming_; }
    [[nodiscard]] std::uint32_t next_outgoing() const noexcept { return next_outgoing_; }

private:
    const core::ReceiveSharePtr share_;
    std::uint32_t next_incoming_{0};
    std::uint32_t next_outgoing_{0};
    std::uint32_t told_{0}; // with the last begin or flow
    std::uint32_t left_{0}; // of that
    std::uint32_t room_{0};
};

} // namespace sessionq::amqp
