// SPDX-License-Identifier: MIT
#include "core/rfc3339.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace sessionq::core {

std::string rfc3339(WallTime time) {
    const auto whole_seconds = std::chrono::floor<std::chrono::seconds>(time);
    const auto seconds = static_cast<std::time_t>(whole_seconds.time_since_epoch().count());
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char text[64];
    const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    std::string whole{text, length};
    char micros[16];
    std::snprintf(micros, sizeof micros, ".%06dZ",
                  static_cast<int>(
                      std::chrono::floor<std::chrono::microseconds>(time - whole_seconds).count()));
    return whole + micros;
}

} // namespace sessionq::core
