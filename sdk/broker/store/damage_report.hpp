// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sessionq::broker {

/// The damages of a store: all are counted, the first ones are named.
class DamageReport {
public:
    void add(std::string damage);

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// The first `most_named` damages.
    [[nodiscard]] const std::vector<std::string>& named() const noexcept { return named_; }
    /// The first `most` of them and how many more there are, on one line.
    [[nodiscard]] std::string text(std::size_t most = 5) const;

    static constexpr std::size_t most_named = 100;

private:
    std::vector<std::string> named_;
    std::size_t count_{0};
};

/// A name or key that may be damaged, in quotes, cut and without control characters.
[[nodiscard]] std::string in_quotes(std::string_view text);

} // namespace sessionq::broker
