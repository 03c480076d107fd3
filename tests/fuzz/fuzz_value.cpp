// SPDX-License-Identifier: MIT
// Values from outside. What can be read is what a check accepts. It can be skipped, and is the same
// after writing and reading.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"

using namespace sessionq::amqp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const auto value = decode(bytes);
    Decoder checked{bytes};
    if ((checked.check() && checked.at_end()) != value.has_value()) {
        std::abort();
    }
    if (!value) {
        return 0;
    }
    const std::string written = encode(*value);
    const auto again = decode(written);
    const bool walked =
        Decoder{bytes}.skip() == bytes && Decoder{written}.skip() == std::string_view{written};
    // not ==, because NaN differs from itself
    if (!walked || !again || encode(*again) != written ||
        again->to_string() != value->to_string()) {
        std::abort();
    }
    return 0;
}
