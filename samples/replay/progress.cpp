// SPDX-License-Identifier: MIT
#include "progress.hpp"

#include <cstdio>
#include <string>

#include <unistd.h>

namespace replay {

Progress::Progress() : on_terminal_{::isatty(STDERR_FILENO) == 1} {}

Progress::~Progress() {
    if (on_terminal_) {
        std::fputs("\r\x1b[K", stderr);
    }
}

void Progress::show(double fraction, std::uint64_t handled) {
    const auto now = std::chrono::steady_clock::now();
    if (!on_terminal_ || now < next_) {
        return;
    }
    next_ = now + std::chrono::milliseconds{100};
    constexpr std::size_t width = 40;
    const auto filled = static_cast<std::size_t>(fraction * width);
    const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
    std::fprintf(stderr, "\r[%s] %3.0f %%  %llu handled", bar.c_str(), fraction * 100,
                 static_cast<unsigned long long>(handled));
}

} // namespace replay
