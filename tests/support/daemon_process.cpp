// SPDX-License-Identifier: MIT
#include "support/daemon_process.hpp"

#include <chrono>
#include <stdexcept>
#include <string_view>

namespace sessionq::test {

DaemonProcess::DaemonProcess(const std::string& program, const std::vector<std::string>& arguments)
    : begun_{std::chrono::steady_clock::now()},
      process_{program, arguments},
      start_{std::chrono::steady_clock::now() - begun_} {
    constexpr std::string_view before = "://127.0.0.1:";
    const std::string& line = process_.first_line();
    const auto at = line.find(before);
    if (at == std::string::npos) {
        throw std::runtime_error{program + " does not print its address"};
    }
    port_ = static_cast<std::uint16_t>(std::stoi(line.substr(at + before.size())));
}

std::string DaemonProcess::connection_string() const {
    return "Endpoint=sb://127.0.0.1:" + std::to_string(port_) +
           ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;"
           "UseDevelopmentEmulator=true";
}

} // namespace sessionq::test
