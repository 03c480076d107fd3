// SPDX-License-Identifier: MIT
#include "tools/nearest_word.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sessionq::tools {
namespace {

constexpr std::size_t most_differences = 3;
constexpr std::size_t longest_word = 64;

/// The number of edits between two words (optimal string alignment).
std::size_t differences(std::string_view one, std::string_view other) {
    std::vector<std::size_t> before_last;
    std::vector<std::size_t> last(other.size() + 1);
    for (std::size_t j = 0; j <= other.size(); ++j) {
        last[j] = j;
    }
    for (std::size_t i = 1; i <= one.size(); ++i) {
        std::vector<std::size_t> row(other.size() + 1, i);
        for (std::size_t j = 1; j <= other.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
        before_last = std::exchange(last, std::move(row));
    }
    return last.back();
}

} // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& words) {
    if (word.size() > longest_word) {
        return {};
    }
    std::string nearest;
    std::size_t fewest = std::min(most_differences, word.size() / 3) + 1;
    for (const std::string& candidate : words) {
        const std::size_t found = differences(word, candidate);
        if (found < fewest) {
            fewest = found;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& words) {
    const std::string nearest = nearest_word(word, words);
    return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

} // namespace sessionq::tools
