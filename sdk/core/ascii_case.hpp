// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace sessionq::core {

/// Lower-cases ASCII letters and returns every other byte unchanged.
[[nodiscard]] constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] inline bool equal_ignoring_case(std::string_view left,
                                              std::string_view right) noexcept {
    return std::ranges::equal(left, right, {}, lower, lower);
}

/// In the order of the lower-cased bytes.
[[nodiscard]] inline bool less_ignoring_case(std::string_view left,
                                             std::string_view right) noexcept {
    return std::ranges::lexicographical_compare(left, right, {}, lower, lower);
}

[[nodiscard]] inline std::string lower_case(std::string_view text) {
    std::string made{text};
    std::ranges::transform(made, made.begin(), lower);
    return made;
}

/// Hash and equality for containers whose keys ignore ASCII case.
struct HashIgnoringCase {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
        std::size_t hash = 0xcbf29ce484222325U; // FNV-1a
        for (const char c : text) {
            hash = (hash ^ static_cast<unsigned char>(lower(c))) * 0x100000001b3U;
        }
        return hash;
    }
};
struct EqualIgnoringCase {
    using is_transparent = void;
    [[nodiscard]] bool operator()(std::string_view left, std::string_view right) const noexcept {
        return equal_ignoring_case(left, right);
    }
};

} // namespace sessionq::core
