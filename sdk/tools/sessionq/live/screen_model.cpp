// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/screen_model.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::cli {
namespace {

constexpr std::size_t longest_filter = 200; // bytes

/// Removes the last character.
void remove_last(std::string& text) {
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
    while (!text.empty() && continues(text.back())) {
        text.pop_back();
    }
    if (!text.empty()) {
        text.pop_back();
    }
}

} // namespace

ScreenModel::ScreenModel(std::string target, Duration fresh_for)
    : target_{std::move(target)}, fresh_for_{fresh_for} {}

void ScreenModel::show(LiveReport report, TimePoint now) {
    fault_.reset();
    if (is_paused_ && shown_) {
        latest_ = Look{std::move(report), now};
        return;
    }
    views_.resize(report.pages.size());
    page_ = std::min(page_, report.pages.empty() ? 0 : report.pages.size() - 1);
    shown_ = Look{std::move(report), now};
}

void ScreenModel::fail(const std::string& why, TimePoint now) {
    fault_ = Fault{why, fault_ ? fault_->since : now};
}

bool ScreenModel::press(const KeyPress& press) {
    if (mode_ == Mode::filtering) {
        edit_filter(press);
        return true;
    }
    if (mode_ == Mode::helping) {
        mode_ = Mode::looking;
        return press.text != "q" && press.text != "Q";
    }
    switch (press.key) {
    case Key::text: return command(press.text);
    case Key::tab: turn_page(1); break;
    case Key::back_tab: turn_page(views_.empty() ? 0 : views_.size() - 1); break;
    case Key::escape: filter_.clear(); break;
    case Key::enter:
    case Key::backspace: break;
    default: scroll_by(press); break;
    }
    return true;
}

bool ScreenModel::command(const std::string& text) {
    if (text == "q" || text == "Q") {
        return false;
    }
    if (text == "s") {
        sort_by_next();
    } else if (text == "r" && page() != nullptr) {
        view().sorting.is_reversed = !view().sorting.is_reversed;
    } else if (text == "f" || text == "/") {
        mode_ = Mode::filtering;
    } else if (text == "p" || text == " ") {
        is_paused_ = !is_paused_;
        if (auto latest = std::exchange(latest_, std::nullopt)) {
            const auto fault = fault_; // that one is newer than the look
            show(std::move(latest->report), latest->at);
            fault_ = fault;
        }
    } else if (text == "h" || text == "?") {
        mode_ = Mode::helping;
    }
    return true;
}

void ScreenModel::edit_filter(const KeyPress& press) {
    switch (press.key) {
    case Key::text:
        if (filter_.size() + press.text.size() <= longest_filter) {
            filter_ += press.text;
        }
        break;
    case Key::backspace: remove_last(filter_); break;
    case Key::escape: filter_.clear(); [[fallthrough]];
    case Key::enter: mode_ = Mode::looking; break;
    default: scroll_by(press); break;
    }
    if (page() != nullptr && press.key == Key::text) {
        view().scroll = 0;
    }
}

void ScreenModel::scroll_by(const KeyPress& press) {
    if (page() == nullptr) {
        return;
    }
    std::size_t& at = view().scroll;
    const std::size_t far = std::max<std::size_t>(body_rows_, 2) - 1;
    switch (press.key) {
    case Key::up: at -= std::min<std::size_t>(at, 1); break;
    case Key::down: ++at; break;
    case Key::page_up: at -= std::min(at, far); break;
    case Key::page_down: at += far; break;
    case Key::home: at = 0; break;
    case Key::end: at = view().farthest; break;
    default: break;
    }
    at = std::min(at, view().farthest);
}

void ScreenModel::turn_page(std::size_t steps) {
    if (!views_.empty()) {
        page_ = (page_ + steps) % views_.size();
    }
}

void ScreenModel::sort_by_next() {
    if (page() == nullptr || page()->table.columns.empty()) {
        return;
    }
    Sorting& sorting = view().sorting;
    const std::size_t next = sorting.column ? *sorting.column + 1 : 0;
    sorting = {};
    if (next < page()->table.columns.size()) {
        sorting.column = next;
    }
}

const Page* ScreenModel::page() const {
    return shown_ && page_ < shown_->report.pages.size() ? &shown_->report.pages[page_] : nullptr;
}

ScreenModel::View& ScreenModel::view() { return views_[page_]; }

} // namespace sessionq::cli
