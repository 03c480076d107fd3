// SPDX-License-Identifier: MIT
#include "server/memory_book.hpp"

#include <string>

namespace sessionq::server {
namespace {

constexpr Duration trim_pause = std::chrono::seconds{1};

} // namespace

void MemoryBook::Account::claim() noexcept {
    if (!is_claimed_ && !is_leaving_) {
        is_claimed_ = true;
        book_.unclaimed_ -= bytes_;
    }
}

void MemoryBook::set(Account& account, std::size_t bytes, TimePoint now) {
    if (account.is_leaving_) {
        return;
    }
    note(account, bytes);
    const bool is_claimed = account.is_claimed_;
    const std::size_t most = is_claimed ? limits_.connection : limits_.unclaimed_connection;
    if (bytes > most) {
        note(account, account.trim());
    }
    if (account.bytes_ > most) {
        evict(account, is_claimed ? Bound::connection : Bound::unclaimed_connection);
    }
    if (all_ > limits_.all / 2 && now >= next_trim_) {
        trim(now);
    }
    while (unclaimed_ > limits_.unclaimed && evict_greatest(Bound::unclaimed)) {
    }
    while (all_ > limits_.all && evict_greatest(Bound::all)) {
    }
}

void MemoryBook::evict(Account& account, Bound bound) {
    note(account, 0);
    account.is_leaving_ = true;
    account.evict(bound);
}

void MemoryBook::note(Account& account, std::size_t bytes) noexcept {
    const std::size_t change = bytes - account.bytes_; // wraps if it shrinks
    account.bytes_ = bytes;
    all_ += change;
    unclaimed_ += account.is_claimed_ ? 0 : change;
}

void MemoryBook::remove(Account& account) noexcept {
    if (!account.is_leaving_) {
        note(account, 0);
    }
}

void MemoryBook::trim(TimePoint now) {
    next_trim_ = now + trim_pause;
    for (Account* each = accounts_.front(); each != nullptr; each = accounts_.next(*each)) {
        if (!each->is_leaving_) {
            note(*each, each->trim());
        }
    }
}

bool MemoryBook::evict_greatest(Bound bound) {
    Account* greatest = nullptr;
    for (Account* each = accounts_.front(); each != nullptr; each = accounts_.next(*each)) {
        const bool counts = !each->is_leaving_ && (bound == Bound::all || !each->is_claimed_);
        if (counts && (greatest == nullptr || each->bytes_ > greatest->bytes_)) {
            greatest = each;
        }
    }
    if (greatest != nullptr) {
        evict(*greatest, bound);
    }
    return greatest != nullptr;
}

std::string describe(MemoryBook::Bound bound, const MemoryLimits& limits) {
    const auto text = [](const char* of_what, std::size_t bytes) {
        return std::string{"memory that the broker keeps for "} + of_what + " exceeds " +
               std::to_string(bytes >> 10U) + " KiB";
    };
    switch (bound) {
    case MemoryBook::Bound::connection: return text("this connection", limits.connection);
    case MemoryBook::Bound::unclaimed_connection:
        return text("a connection without a claim", limits.unclaimed_connection);
    case MemoryBook::Bound::unclaimed:
        return text("all connections without a claim", limits.unclaimed);
    case MemoryBook::Bound::all: break;
    }
    return text("all connections", limits.all);
}

} // namespace sessionq::server
