// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace sessionq::broker {

struct Session;

/// Sessions of an entity in the order in which they were appended. Each is shown in lists or not.
///
/// They are stored in blocks of 64: 8 bytes a session, and a bit each for those that are there and
/// for those that are shown. Adding, removing and showing take O(1). A list skips groups of 32
/// blocks by their count: a million sessions are 500 groups. It needs no memory of earlier lists,
/// so any client may skip to anywhere. A full block is freed with its last session.
class SessionOrder {
public:
    struct Group;
    struct Block {
        std::uint64_t taken{0};
        std::uint64_t shown{0};
        std::array<Session*, 64> sessions{};
        Group* group{nullptr};
        std::size_t index{0}; ///< in the group
    };
    struct Group {
        std::size_t shown{0};
        std::size_t blocks_there{0};
        std::array<std::unique_ptr<Block>, 32> blocks{}; ///< null: not yet made, or freed
        std::list<Group>::iterator self{};
    };
    /// Where a session is; kept in the session.
    struct Position {
        Block* block{nullptr};
        std::uint8_t slot{0};
        bool is_shown{false};
    };

    /// `position`: where a session keeps its place in this order.
    explicit SessionOrder(Position Session::*position) noexcept : position_{position} {}
    SessionOrder(const SessionOrder&) = delete;
    SessionOrder& operator=(const SessionOrder&) = delete;

    /// Adds a session that is not in the order, at the end. It is not shown.
    void append(Session& session);
    void remove(Session& session) noexcept;
    void show(Session& session, bool is_shown) noexcept;

    /// The ids of up to `top` sessions that are shown, after the first `skip` of them.
    [[nodiscard]] std::vector<std::string> list(std::size_t skip, std::size_t top) const {
        return list_from([](const Session&) { return false; }, skip, top);
    }
    /// The same without those that are `before` the list, which come before all others.
    [[nodiscard]] std::vector<std::string> list_from(
        const std::function<bool(const Session&)>& before, std::size_t skip, std::size_t top) const;

    /// The oldest session, and the one after `session`; null if there is none.
    [[nodiscard]] Session* oldest() const noexcept;
    [[nodiscard]] Session* after(const Session& session) const noexcept;

private:
    void add_block();
    [[nodiscard]] static Session* first_from(std::list<Group>::const_iterator group,
                                             std::list<Group>::const_iterator end,
                                             std::size_t index) noexcept;

    Position Session::*position_;
    std::list<Group> groups_{};
    std::size_t last_blocks_{0}; // made in the last group
    std::size_t last_slots_{0};  // given out in its last block; all: a new block is due
};

} // namespace sessionq::broker
