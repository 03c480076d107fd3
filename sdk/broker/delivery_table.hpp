// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sessionq::broker {

struct StoredMessage;

/// The messages that a consumer has received and not settled, by the token of each delivery. Every
/// operation is O(1). A token is never reused: it combines a row of the table with how often that
/// row was used.
class DeliveryTable {
public:
    using Token = std::uint64_t;

    [[nodiscard]] Token add(StoredMessage& message) {
        if (free_ == none) {
            free_ = static_cast<std::uint32_t>(rows_.size());
            rows_.push_back({});
        }
        const std::uint32_t at = free_;
        Row& row = rows_[at];
        free_ = row.next_free;
        row.message = &message;
        ++size_;
        return Token{row.uses} << 32U | at;
    }

    /// Returns null if the token does not name an unsettled message.
    [[nodiscard]] StoredMessage* find(Token token) const noexcept {
        const auto at = static_cast<std::size_t>(token & 0xffffffffU);
        return at < rows_.size() && rows_[at].uses == token >> 32U ? rows_[at].message : nullptr;
    }

    /// `token` must name an unsettled message.
    void remove(Token token) noexcept {
        const auto at = static_cast<std::uint32_t>(token);
        Row& row = rows_[at];
        row.message = nullptr;
        ++row.uses;
        row.next_free = free_;
        free_ = at;
        --size_;
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// All unsettled messages, in no particular order.
    [[nodiscard]] std::vector<StoredMessage*> messages() const {
        std::vector<StoredMessage*> found;
        found.reserve(size_);
        for (const Row& row : rows_) {
            if (row.message != nullptr) {
                found.push_back(row.message);
            }
        }
        return found;
    }

private:
    static constexpr std::uint32_t none = 0xffffffffU;

    struct Row {
        StoredMessage* message{nullptr};
        std::uint32_t uses{0};
        std::uint32_t next_free{none};
    };

    std::vector<Row> rows_;
    std::uint32_t free_{none};
    std::uint32_t size_{0};
};

} // namespace sessionq::broker
