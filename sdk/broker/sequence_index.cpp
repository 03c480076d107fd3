// SPDX-License-Identifier: MIT
#include "broker/sequence_index.hpp"

#include <bit>

namespace sessionq::broker {
namespace {

constexpr std::int64_t block_of(std::int64_t sequence) noexcept { return sequence >> 6; }
constexpr std::size_t slot_of(std::int64_t sequence) noexcept {
    return static_cast<std::size_t>(sequence & 63);
}
constexpr std::uint64_t bit_of(std::int64_t sequence) noexcept {
    return std::uint64_t{1} << slot_of(sequence);
}

} // namespace

void SequenceIndex::insert(std::int64_t sequence, StoredMessage& message) {
    const bool in_last = !blocks_.empty() && blocks_.rbegin()->first == block_of(sequence);
    Block& block = in_last ? blocks_.rbegin()->second
                           : blocks_.try_emplace(blocks_.end(), block_of(sequence))->second;
    block.taken |= bit_of(sequence);
    block.messages[slot_of(sequence)] = &message;
    ++size_;
}

void SequenceIndex::erase(std::int64_t sequence) noexcept {
    const auto at = blocks_.find(block_of(sequence));
    at->second.taken &= ~bit_of(sequence);
    if (at->second.taken == 0) {
        blocks_.erase(at);
    }
    --size_;
}

StoredMessage* SequenceIndex::find(std::int64_t sequence) const noexcept {
    const auto at = blocks_.find(block_of(sequence));
    return at != blocks_.end() && (at->second.taken & bit_of(sequence)) != 0
               ? at->second.messages[slot_of(sequence)]
               : nullptr;
}

StoredMessage* SequenceIndex::at_or_after(std::int64_t sequence) const noexcept {
    auto at = blocks_.lower_bound(block_of(sequence));
    if (at == blocks_.end()) {
        return nullptr;
    }
    std::uint64_t taken = at->second.taken;
    if (at->first == block_of(sequence)) {
        taken &= ~std::uint64_t{0} << slot_of(sequence);
        if (taken == 0) {
            if (++at == blocks_.end()) {
                return nullptr;
            }
            taken = at->second.taken;
        }
    }
    return at->second.messages[static_cast<std::size_t>(std::countr_zero(taken))];
}

} // namespace sessionq::broker
