// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "broker/store/hash64.hpp"
#include "broker/store/rows.hpp"

namespace sessionq::broker {

/// Hashes the columns of a row, in order. The name of the table goes in first, so a row that got
/// into another table is noticed too.
class RowHash {
public:
    explicit RowHash(std::string_view table) noexcept : hash_{hash64(table, 0)} {}

    void add(std::int64_t value) noexcept {
        char bytes[sizeof value];
        for (std::size_t i = 0; i < sizeof value; ++i) {
            bytes[i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
        }
        hash_ = hash64({bytes, sizeof bytes}, hash_);
    }
    void add(std::string_view text) noexcept { hash_ = hash64(text, hash_); }
    void add(Blob blob) noexcept { add(blob.bytes); }
    void add(const ContentCell& content) noexcept {
        if (content.shared != 0) {
            add(std::string_view{"shared"});
            add(content.shared);
        } else {
            add(content.bytes); // as in stores of version 3
        }
    }
    template <typename Value>
    void add(const std::optional<Value>& value) noexcept {
        add(std::int64_t{value.has_value()});
        if (value) {
            add(*value);
        }
    }

    [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

private:
    std::uint64_t hash_;
};

/// The checksum that a row is stored with. Covers its table, its key and all other columns.
template <typename Row>
[[nodiscard]] std::uint64_t checksum_of(const Row& row) noexcept {
    RowHash hash{Row::table};
    Row::visit(row, [&hash](const char*, const auto& value) { hash.add(value); });
    return hash.value();
}

} // namespace sessionq::broker
