// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace sessionq::amqp {

/// The two flow windows of a session, which count the frames of transfers (AMQP 1.0 part 2, section
/// 2.5.6).
class TransferWindow {
public:
    /// What this side lets the peer send without an answer.
    static constexpr std::uint32_t incoming = 8192;
    /// This side keeps no window of its own for what it sends.
    static constexpr std::uint32_t outgoing = 0x7fffffff;

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
        return true;
    }
    /// The peer is to hear of new room before it needs any.
    [[nodiscard]] bool wants_flow() const noexcept { return left_ <= incoming / 2; }
    /// A flow tells the peer of the whole window.
    void told() noexcept { left_ = incoming; }

    [[nodiscard]] std::uint32_t next_incoming() const noexcept { return next_incoming_; }
    [[nodiscard]] std::uint32_t next_outgoing() const noexcept { return next_outgoing_; }

private:
    std::uint32_t next_incoming_{0};
    std::uint32_t next_outgoing_{0};
    std::uint32_t left_{incoming}; // of what the peer was told last
    std::uint32_t room_{0};
};

} // namespace sessionq::amqp
