// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <vector>

#include "tally.hpp"

namespace replay {

/// A finished run.
struct Report {
    Tally::Figures figures{};
    std::uint64_t rolls{0};
    std::chrono::nanoseconds longest_wait{0};
    std::chrono::nanoseconds elapsed{0};

    [[nodiscard]] double messages_per_second() const noexcept;
};

/// For people: a few lines.
void write_text(std::ostream& out, const Report& report);

/// One line of JSON, without a line end before it.
void write_json(std::ostream& out, const Report& report);

/// The first `rows` sessions with their last outcomes, and the number of sessions by outcome.
void write_outcomes(std::ostream& out, const std::vector<Tally::SessionOutcome>& outcomes,
                    std::size_t rows);

} // namespace replay
