// SPDX-License-Identifier: MIT
#include "tools/sessionq/json_splitter.hpp"

#include <utility>

namespace sessionq::cli {
namespace {

bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

} // namespace

void JsonSplitter::add(std::string_view line) {
    ++line_;
    for (const char c : line) {
        take(c);
    }
    // A string does not span lines, and a value without brackets ends with its line.
    if (is_in_string_ || (depth_ == 0 && !open_.text.empty())) {
        cut();
    } else if (!open_.text.empty()) {
        open_.text += '\n';
    }
}

void JsonSplitter::end() {
    if (!open_.text.empty()) {
        cut();
    }
    if (is_in_list_) {
        pieces_.push_back({.text = "[", .line = line_}); // which the parser refuses
    }
}

std::optional<JsonSplitter::Piece> JsonSplitter::next() {
    if (pieces_.empty()) {
        return std::nullopt;
    }
    Piece piece = std::move(pieces_.front());
    pieces_.pop_front();
    return piece;
}

void JsonSplitter::take(char c) {
    if (open_.text.empty()) {
        if (is_space(c)) {
            return;
        }
        if (c == '[' && !is_in_list_) {
            is_in_list_ = true;
            return;
        }
        if (is_in_list_ && (c == ',' || c == ']')) {
            is_in_list_ = c == ',';
            return;
        }
        open_.line = line_;
    }
    open_.text += c;
    if (is_in_string_) {
        is_in_string_ = c != '"' || is_escaped_;
        is_escaped_ = c == '\\' && !is_escaped_;
        return;
    }
    switch (c) {
    case '"': is_in_string_ = true; break;
    case '{':
    case '[': ++depth_; break;
    case '}':
    case ']':
        depth_ -= depth_ > 0 ? 1 : 0;
        if (depth_ == 0) {
            cut();
        }
        break;
    default: break;
    }
}

void JsonSplitter::cut() {
    pieces_.push_back(std::exchange(open_, {}));
    depth_ = 0;
    is_in_string_ = false;
    is_escaped_ = false;
}

} // namespace sessionq::cli
