// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/display_text.hpp"

#include <algorithm>
#include <array>

#include "core/peer_words.hpp"
#include "core/utf8.hpp"

namespace sessionq::cli {
namespace {

struct CodeRange {
    std::uint32_t first;
    std::uint32_t last;
};

// The scripts that are met in ids. Terminals differ about the rest.
constexpr std::array combining{
    CodeRange{0x00ad, 0x00ad},   CodeRange{0x0300, 0x036f},   CodeRange{0x0483, 0x0489},
    CodeRange{0x0591, 0x05bd},   CodeRange{0x0610, 0x061a},   CodeRange{0x064b, 0x065f},
    CodeRange{0x0900, 0x0902},   CodeRange{0x093c, 0x093c},   CodeRange{0x0941, 0x0948},
    CodeRange{0x0e31, 0x0e31},   CodeRange{0x0e34, 0x0e3a},   CodeRange{0x0e47, 0x0e4e},
    CodeRange{0x1ab0, 0x1aff},   CodeRange{0x1dc0, 0x1dff},   CodeRange{0x200b, 0x200d},
    CodeRange{0x2060, 0x2064},   CodeRange{0x20d0, 0x20ff},   CodeRange{0x3099, 0x309a},
    CodeRange{0xfe00, 0xfe0f},   CodeRange{0xfe20, 0xfe2f},   CodeRange{0xfeff, 0xfeff},
    CodeRange{0x1f3fb, 0x1f3ff}, CodeRange{0xe0001, 0xe01ef},
};
constexpr std::array wide{
    CodeRange{0x1100, 0x115f},   CodeRange{0x231a, 0x231b},   CodeRange{0x2e80, 0x303e},
    CodeRange{0x3041, 0x33ff},   CodeRange{0x3400, 0x4dbf},   CodeRange{0x4e00, 0x9fff},
    CodeRange{0xa000, 0xa4cf},   CodeRange{0xa960, 0xa97f},   CodeRange{0xac00, 0xd7a3},
    CodeRange{0xf900, 0xfaff},   CodeRange{0xfe30, 0xfe6f},   CodeRange{0xff01, 0xff60},
    CodeRange{0xffe0, 0xffe6},   CodeRange{0x1f300, 0x1f64f}, CodeRange{0x1f680, 0x1f6ff},
    CodeRange{0x1f900, 0x1f9ff}, CodeRange{0x20000, 0x3fffd},
};

template <std::size_t Size>
bool is_in(const std::array<CodeRange, Size>& ranges, std::uint32_t code) noexcept {
    return std::any_of(ranges.begin(), ranges.end(), [code](const CodeRange& each) {
        return code >= each.first && code <= each.last;
    });
}

/// The bytes and columns of the beginning of a clean text that fits into `most` columns.
struct Fitting {
    std::size_t bytes{0};
    std::size_t columns{0};
};

Fitting fitting(std::string_view text, std::size_t most) {
    Fitting found;
    while (found.bytes < text.size()) {
        const auto next = core::first_character(text.substr(found.bytes));
        const std::size_t columns = next ? columns_of(next->code) : 1;
        if (found.columns + columns > most) {
            break;
        }
        found.bytes += next ? next->size : 1;
        found.columns += columns;
    }
    return found;
}

} // namespace

std::size_t columns_of(std::uint32_t code) noexcept {
    constexpr std::uint32_t first_special = 0xad;
    if (code < first_special) {
        return 1;
    }
    return is_in(combining, code) ? 0 : is_in(wide, code) ? 2 : 1;
}

DisplayText::DisplayText(std::string_view text)
    : text_{core::peer_words(text, text.max_size())},
      columns_{fitting(text_, text_.max_size()).columns} {}
DisplayText::DisplayText(const std::string& text) : DisplayText{std::string_view{text}} {}
DisplayText::DisplayText(const char* text) : DisplayText{std::string_view{text}} {}

DisplayText DisplayText::cut(std::size_t columns) const {
    if (columns_ <= columns) {
        return *this;
    }
    if (columns == 0) {
        return {};
    }
    DisplayText shown = first(columns - 1);
    shown.text_ += '~';
    ++shown.columns_;
    return shown;
}

DisplayText DisplayText::first(std::size_t columns) const {
    const Fitting fits = fitting(text_, columns);
    DisplayText shown;
    shown.text_ = text_.substr(0, fits.bytes);
    shown.columns_ = fits.columns;
    return shown;
}

DisplayText DisplayText::without(std::size_t bytes) const {
    return std::string_view{text_}.substr(std::min(bytes, text_.size()));
}

} // namespace sessionq::cli
