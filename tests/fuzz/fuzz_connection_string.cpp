// SPDX-License-Identifier: MIT
// Connection strings from outside. They are rejected with a reason, or their values are valid. The
// reason never contains a secret.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "servicebus/connection_string.hpp"

using namespace sessionq;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text{reinterpret_cast<const char*>(data), size};
    // also present elsewhere, where it is no secret
    if (text.find("this-is-secret") != std::string::npos) {
        return 0;
    }
    const auto parsed =
        detail::servicebus::ConnectionString::parse(text + ";SharedAccessKey=this-is-secret");
    if (parsed.ok() ? parsed.value().host.empty()
                    : parsed.failure().detail.empty() ||
                          parsed.failure().detail.find("this-is-secret") != std::string::npos) {
        std::abort();
    }
    return 0;
}
