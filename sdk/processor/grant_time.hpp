#pragma once

#include <algorithm>

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Measures how soon a broker grants a session that is ready. An accept that takes longer than
/// `patience` is taken to wait for a session.
class GrantTime {
public:
    void add(Duration taken) noexcept {
        if (taken <= most) {
            usual_ += (taken - usual_) / 8;
        }
    }
    [[nodiscard]] Duration patience() const noexcept { return std::clamp(usual_ * 4, least, most); }

private:
    static constexpr Duration least = std::chrono::milliseconds{2};
    static constexpr Duration most = std::chrono::milliseconds{200};

    Duration usual_{std::chrono::milliseconds{5}};
};

} // namespace sessionq::processor
