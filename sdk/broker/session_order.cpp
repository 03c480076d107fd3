// SPDX-License-Identifier: MIT
#include "broker/session_order.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "broker/session.hpp"

namespace sessionq::broker {
namespace {

constexpr std::size_t slots_a_block = 64;

constexpr std::uint64_t mask_of(std::size_t slot) noexcept { return std::uint64_t{1} << slot; }

std::size_t lowest(std::uint64_t bits) noexcept {
    return static_cast<std::size_t>(std::countr_zero(bits));
}

Session* first_in(std::uint64_t bits, const SessionOrder::Block& block) noexcept {
    return bits != 0 ? block.sessions[lowest(bits)] : nullptr;
}

} // namespace

void SessionOrder::append(Session& session) {
    if (blocks_.empty() || last_slots_ == slots_a_block) {
        blocks_.emplace_back();
        blocks_.back().self = std::prev(blocks_.end());
        last_slots_ = 0;
    }
    Block& block = blocks_.back();
    session.position = {.block = &block, .slot = static_cast<std::uint8_t>(last_slots_)};
    block.taken |= mask_of(last_slots_);
    block.sessions[last_slots_] = &session;
    ++last_slots_;
}

void SessionOrder::remove(Session& session) noexcept {
    Block& block = *session.position.block;
    show(session, false);
    block.taken &= ~mask_of(session.position.slot);
    const bool is_filling = last_slots_ < slots_a_block && block.self == std::prev(blocks_.end());
    if (block.taken == 0 && !is_filling) {
        blocks_.erase(block.self);
    }
}

void SessionOrder::show(Session& session, bool is_shown) noexcept {
    Position& position = session.position;
    if (position.is_shown != is_shown) {
        position.is_shown = is_shown;
        position.block->shown ^= mask_of(position.slot);
    }
}

std::vector<std::string> SessionOrder::list(std::size_t skip, std::size_t top) const {
    std::vector<std::string> ids;
    for (const Block& block : blocks_) {
        const auto count = static_cast<std::size_t>(std::popcount(block.shown));
        if (skip >= count) {
            skip -= count;
            continue;
        }
        for (std::uint64_t left = block.shown; left != 0; left &= left - 1) {
            if (ids.size() == top) {
                return ids;
            }
            if (skip > 0) {
                --skip;
            } else {
                ids.push_back(*block.sessions[lowest(left)]->id);
            }
        }
    }
    return ids;
}

Session* SessionOrder::oldest() const noexcept {
    return blocks_.empty() ? nullptr : first_in(blocks_.front().taken, blocks_.front());
}

Session* SessionOrder::after(const Session& session) const noexcept {
    const Block& block = *session.position.block;
    const std::uint64_t later = block.taken & ~(mask_of(session.position.slot) * 2 - 1);
    if (later != 0) {
        return first_in(later, block);
    }
    const auto next = std::next(block.self);
    return next == blocks_.end() ? nullptr : first_in(next->taken, *next);
}

} // namespace sessionq::broker
