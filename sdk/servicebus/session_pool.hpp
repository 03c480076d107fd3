// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace sessionq::detail::servicebus {

/// Decides which AMQP session of a connection a session's link joins, and whether the connection
/// has room for one more link. Links share AMQP sessions because a channel costs more memory than a
/// link, and its begin and end cost frames with each roll. No I/O.
class SessionPool {
public:
    using Id = std::uint64_t;
    /// Few, because a failure of an AMQP session ends all its links.
    static constexpr std::size_t links_per_session = 16;
    /// The end of a session or link costs the engine a look at all others of its connection.
    static constexpr std::size_t max_links = 1000;

    /// The peer allows channels up to this number.
    void opened(std::uint16_t channel_max) noexcept { capacity_ = capacity_under(channel_max); }
    /// The connection is full with the links that it has.
    void refused() noexcept { capacity_ = links_ > 1 ? links_ - 1 : 1; }

    // A link counts from the moment it is asked for.
    void enter() noexcept { ++links_; }
    void leave() noexcept { --links_; }
    [[nodiscard]] bool has_room() const noexcept { return links_ < capacity_; }
    [[nodiscard]] bool is_unused() const noexcept { return links_ == 0; }

    /// The session that the next link joins. None: begin another one and say so with `add`.
    [[nodiscard]] std::optional<Id> choose() const noexcept {
        for (const auto& [id, session] : sessions_) {
            if (session.is_open && session.links < links_per_session) {
                return id;
            }
        }
        return std::nullopt;
    }
    /// The session takes no more links.
    void shut(Id id) { sessions_.at(id).is_open = false; }
    [[nodiscard]] Id add() {
        sessions_.emplace(++last_, Session{});
        return last_;
    }
    void join(Id id) { ++sessions_.at(id).links; }
    /// True: this was the last link, and the session must end.
    [[nodiscard]] bool part(Id id) {
        const auto found = sessions_.find(id);
        if (found == sessions_.end() || --found->second.links != 0) {
            return false;
        }
        sessions_.erase(found);
        return true;
    }

private:
    struct Session {
        std::size_t links{0};
        bool is_open{true};
    };

    /// Leaves some channels to senders, requests and sessions whose end is not answered yet.
    [[nodiscard]] static constexpr std::size_t capacity_under(std::uint16_t channel_max) noexcept {
        const std::size_t channels = std::size_t{channel_max} + 1;
        const std::size_t kept = channels / 2 < 16 ? channels / 2 : 16;
        const std::size_t links = (channels - kept) * links_per_session;
        return links < max_links ? links : max_links;
    }

    std::map<Id, Session> sessions_{};
    Id last_{0};
    std::size_t links_{0};
    std::size_t capacity_{capacity_under(4999)}; // as Service Bus allows
};

} // namespace sessionq::detail::servicebus
