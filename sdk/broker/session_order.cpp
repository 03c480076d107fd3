// SPDX-License-Identifier: MIT
#include "broker/session_order.hpp"

#include <bit>
#include <iterator>
#include <tuple>
#include <utility>

#include "broker/session.hpp"

namespace sessionq::broker {
namespace {

constexpr std::size_t slots_a_block = std::tuple_size_v<decltype(SessionOrder::Block::sessions)>;
constexpr std::size_t blocks_a_group = std::tuple_size_v<decltype(SessionOrder::Group::blocks)>;

constexpr std::uint64_t mask_of(std::size_t slot) noexcept { return std::uint64_t{1} << slot; }

std::size_t lowest(std::uint64_t bits) noexcept {
    return static_cast<std::size_t>(std::countr_zero(bits));
}

/// Null: it has none.
const Session* last_of(const SessionOrder::Group& group) noexcept {
    for (auto block = group.blocks.rbegin(); block != group.blocks.rend(); ++block) {
        if (*block != nullptr && (*block)->taken != 0) {
            return (*block)
                ->sessions[63 - static_cast<std::size_t>(std::countl_zero((*block)->taken))];
        }
    }
    return nullptr;
}

} // namespace

void SessionOrder::add_block() {
    if (groups_.empty() || last_blocks_ == blocks_a_group) {
        if (groups_.empty() || groups_.back().blocks_there != 0) { // else it is used again
            groups_.emplace_back();
            groups_.back().self = std::prev(groups_.end());
        }
        last_blocks_ = 0;
    }
    Group& group = groups_.back();
    auto block = std::make_unique<Block>();
    block->group = &group;
    block->index = last_blocks_;
    group.blocks[last_blocks_++] = std::move(block);
    ++group.blocks_there;
    last_slots_ = 0;
}

void SessionOrder::append(Session& session) {
    if (groups_.empty() || last_slots_ == slots_a_block) {
        add_block();
    }
    Block& block = *groups_.back().blocks[last_blocks_ - 1];
    session.*position_ = {.block = &block, .slot = static_cast<std::uint8_t>(last_slots_)};
    block.taken |= mask_of(last_slots_);
    block.sessions[last_slots_] = &session;
    ++last_slots_;
}

void SessionOrder::remove(Session& session) noexcept {
    Block& block = *(session.*position_).block;
    Group& group = *block.group;
    show(session, false);
    block.taken &= ~mask_of((session.*position_).slot);
    const bool is_last = &group == &groups_.back();
    const bool is_filling =
        is_last && block.index + 1 == last_blocks_ && last_slots_ < slots_a_block;
    if (block.taken != 0 || is_filling) {
        return;
    }
    group.blocks[block.index].reset();
    if (--group.blocks_there == 0 && !is_last) {
        groups_.erase(group.self);
    }
}

void SessionOrder::show(Session& session, bool is_shown) noexcept {
    Position& position = session.*position_;
    if (position.is_shown != is_shown) {
        position.is_shown = is_shown;
        position.block->shown ^= mask_of(position.slot);
        position.block->group->shown += is_shown ? std::size_t{1} : ~std::size_t{0};
    }
}

std::vector<std::string> SessionOrder::list_from(const std::function<bool(const Session&)>& before,
                                                 std::size_t skip, std::size_t top) const {
    std::vector<std::string> ids;
    bool is_before = true; // all that was looked at
    for (const Group& group : groups_) {
        if (is_before) {
            const Session* const last = last_of(group);
            if (last == nullptr || before(*last)) {
                continue;
            }
        }
        if (!is_before && skip >= group.shown) {
            skip -= group.shown;
            continue;
        }
        for (const auto& block : group.blocks) {
            for (std::uint64_t left = block ? block->shown : 0; left != 0; left &= left - 1) {
                const Session& session = *block->sessions[lowest(left)];
                is_before = is_before && before(session);
                if (is_before) {
                    continue;
                }
                if (ids.size() == top) {
                    return ids;
                }
                if (skip > 0) {
                    --skip;
                } else {
                    ids.push_back(*session.id);
                }
            }
        }
    }
    return ids;
}

/// The first session from that block on.
Session* SessionOrder::first_from(std::list<Group>::const_iterator group,
                                  std::list<Group>::const_iterator end,
                                  std::size_t index) noexcept {
    for (; group != end; ++group, index = 0) {
        for (; index < blocks_a_group; ++index) {
            const Block* block = group->blocks[index].get();
            if (block != nullptr && block->taken != 0) {
                return block->sessions[lowest(block->taken)];
            }
        }
    }
    return nullptr;
}

Session* SessionOrder::oldest() const noexcept {
    return first_from(groups_.begin(), groups_.end(), 0);
}

Session* SessionOrder::after(const Session& session) const noexcept {
    const Block& block = *(session.*position_).block;
    const std::uint64_t later = block.taken & ~(mask_of((session.*position_).slot) * 2 - 1);
    if (later != 0) {
        return block.sessions[lowest(later)];
    }
    return first_from(block.group->self, groups_.end(), block.index + 1);
}

} // namespace sessionq::broker
