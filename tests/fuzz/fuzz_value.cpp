// Values from outside: whatever is understood is walked over whole, and is the same once it is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"

using namespace sessionq::amqp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const auto value = decode(bytes);
    if (!value) {
        return 0;
    }
    const std::string written = encode(*value);
    const auto again = decode(written);
    const bool walked =
        Decoder{bytes}.skip() == bytes && Decoder{written}.skip() == std::string_view{written};
    if (!walked || !again || encode(*again) != written ||
        again->to_string() != value->to_string()) { // not ==: a NaN is none of its equals
        std::abort();
    }
    return 0;
}
