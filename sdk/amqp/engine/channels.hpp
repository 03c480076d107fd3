// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sessionq::amqp {

class Session;

/// The channels of a connection, this side's and the peer's. A channel outlives the session's
/// object until both sides have ended it.
class Channels {
public:
    struct Channel {
        Session* session{nullptr}; ///< null: left
        bool is_used{false};
        bool is_begun{false};    ///< by the peer as well
        bool end_awaited{false}; ///< this side has ended it, or will once it is begun
    };

    [[nodiscard]] std::size_t used() const noexcept { return used_; }

    /// The lowest that is free.
    [[nodiscard]] std::uint16_t take() {
        const auto free = std::ranges::find(channels_, false, &Channel::is_used);
        const auto local = static_cast<std::uint16_t>(free - channels_.begin());
        if (free == channels_.end()) {
            channels_.emplace_back();
        }
        channels_[local].is_used = true;
        ++used_;
        return local;
    }
    void free(std::uint16_t local) noexcept {
        channels_[local] = {};
        --used_;
    }

    [[nodiscard]] Channel& at(std::uint16_t local) noexcept { return channels_[local]; }
    [[nodiscard]] bool is_used(std::uint16_t local) const noexcept {
        return local < channels_.size() && channels_[local].is_used;
    }

    /// Both have begun it.
    void connect(std::uint16_t local, std::uint16_t remote) {
        by_remote_[remote] = local;
        channels_[local].is_begun = true;
        last_remote_ = remote;
        last_local_ = local;
    }
    /// The peer has ended it.
    void disconnect(std::uint16_t remote) noexcept {
        by_remote_.erase(remote);
        last_local_.reset();
    }
    /// Of the peer's channel; nothing if it has not begun it.
    [[nodiscard]] std::optional<std::uint16_t> local_of(std::uint16_t remote) noexcept {
        if (last_local_ && last_remote_ == remote) {
            return last_local_;
        }
        const auto found = by_remote_.find(remote);
        if (found == by_remote_.end()) {
            return std::nullopt;
        }
        last_remote_ = remote;
        last_local_ = found->second;
        return last_local_;
    }

    /// The first session that is left; null: there is none. No session may begin any more.
    [[nodiscard]] Session* first_left() noexcept {
        while (left_ < channels_.size() && channels_[left_].session == nullptr) {
            ++left_;
        }
        return left_ < channels_.size() ? channels_[left_].session : nullptr;
    }

private:
    std::vector<Channel> channels_{}; // ours
    std::unordered_map<std::uint16_t, std::uint16_t> by_remote_{};
    std::size_t used_{0};
    std::size_t left_{0};          // those before it have no session left
    std::uint16_t last_remote_{0}; // most frames follow one of the same channel
    std::optional<std::uint16_t> last_local_{};
};

} // namespace sessionq::amqp
