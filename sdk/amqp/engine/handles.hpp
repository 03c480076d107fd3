// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sessionq::amqp {

class Link;

/// The handles of a session, this side's and the peer's. A handle outlives the link's object until
/// both sides have detached.
class Handles {
public:
    struct Handle {
        Link* link{nullptr}; ///< null: left
        bool is_sender{false};
        bool awaits_attach{false}; ///< this side has attached, and the peer has not answered
    };

    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    [[nodiscard]] std::uint32_t take() {
        ++used_;
        std::uint32_t handle = static_cast<std::uint32_t>(handles_.size());
        if (free_.empty()) {
            handles_.emplace_back();
        } else {
            handle = free_.back();
            free_.pop_back();
        }
        return handle;
    }
    void free(std::uint32_t handle) {
        handles_[handle] = {};
        free_.push_back(handle);
        --used_;
    }
    [[nodiscard]] Handle& at(std::uint32_t handle) noexcept { return handles_[handle]; }

    /// The peer's handle is the other end of ours.
    void connect(std::uint32_t handle, std::uint32_t remote) {
        if (remote >= by_remote_.size()) {
            by_remote_.resize(std::size_t{remote} + 1);
        }
        by_remote_[remote] = handle + 1;
        handles_[handle].awaits_attach = false;
    }
    /// The peer has detached. Returns our end.
    std::uint32_t disconnect(std::uint32_t remote) noexcept {
        return std::exchange(by_remote_[remote], 0) - 1;
    }
    /// Null if the peer has not attached it.
    [[nodiscard]] Handle* of_remote(std::uint32_t remote) noexcept {
        return remote < by_remote_.size() && by_remote_[remote] != 0
                   ? &handles_[by_remote_[remote] - 1]
                   : nullptr;
    }

    /// A link was left before the peer has answered its attach.
    void leave_unanswered(std::string name, std::uint32_t handle) {
        left_.push_back({std::move(name), handle});
    }
    /// Our end that an attach of this name answers, if it answers one. `name_of` names a link.
    template <typename NameOf>
    [[nodiscard]] std::optional<std::uint32_t> answered_by(std::string_view name, bool is_sender,
                                                           NameOf name_of) {
        const auto left = std::ranges::find_if(left_, [&](const Left& each) {
            return each.name == name && handles_[each.handle].is_sender == is_sender;
        });
        if (left != left_.end()) {
            const std::uint32_t handle = left->handle;
            left_.erase(left);
            return handle;
        }
        const auto found = std::ranges::find_if(handles_, [&](const Handle& each) {
            return each.awaits_attach && each.is_sender == is_sender && each.link != nullptr &&
                   name_of(*each.link) == name;
        });
        return found != handles_.end()
                   ? std::optional{static_cast<std::uint32_t>(found - handles_.begin())}
                   : std::nullopt;
    }

private:
    struct Left {
        std::string name{};
        std::uint32_t handle{0};
    };

    std::vector<Handle> handles_{};
    std::vector<std::uint32_t> free_{};
    std::vector<std::uint32_t> by_remote_{}; // one more than ours, or zero
    std::vector<Left> left_{};
    std::size_t used_{0};
};

} // namespace sessionq::amqp
