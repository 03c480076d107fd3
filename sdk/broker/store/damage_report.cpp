// SPDX-License-Identifier: MIT
#include "broker/store/damage_report.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::broker {
namespace {

constexpr std::size_t longest_name = 80;

bool is_control(char letter) noexcept {
    const auto code = static_cast<unsigned char>(letter);
    return code < ' ' || code == 0x7f;
}

} // namespace

void DamageReport::add(std::string damage) {
    ++count_;
    if (named_.size() < most_named) {
        std::ranges::replace_if(damage, is_control, ' ');
        named_.push_back(std::move(damage));
    }
}

std::string DamageReport::text(std::size_t most) const {
    const std::size_t shown = std::min(most, named_.size());
    std::string text;
    for (std::size_t i = 0; i < shown; ++i) {
        text += (i > 0 ? "; " : "") + named_[i];
    }
    if (count_ > shown) {
        text += "; and " + std::to_string(count_ - shown) + " more";
    }
    return text;
}

std::string in_quotes(std::string_view text) {
    std::string shown{text.substr(0, longest_name)};
    std::ranges::replace_if(shown, is_control, '?');
    return "'" + shown + (text.size() > longest_name ? "...'" : "'");
}

} // namespace sessionq::broker
