// Frames of both directions through the shim. Whole and byte by byte, the result must be the same.
// What a server lets in must pass again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "amqp/frame_shim.hpp"

using namespace sessionq::amqp;

namespace {

struct Result {
    bool taken{true};
    std::string bytes{};

    friend bool operator==(const Result&, const Result&) = default;
};

Result inward(bool is_server, std::string_view bytes, std::size_t step) {
    FrameShim shim{is_server, 4096};
    Result result;
    while (!bytes.empty() && result.taken) {
        std::string_view piece = bytes.substr(0, step);
        bytes.remove_prefix(piece.size());
        while (!piece.empty() && result.taken) {
            result.taken = shim.inbound(piece, result.bytes);
        }
    }
    return result;
}

Result outward(std::string_view bytes, std::size_t step) {
    FrameShim shim{false};
    Result result;
    while (!bytes.empty() && result.taken) {
        result.taken = shim.outbound(bytes.substr(0, step), result.bytes);
        bytes.remove_prefix(std::min(step, bytes.size()));
    }
    return result;
}

void must(bool holds) {
    if (!holds) {
        __builtin_trap();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const std::size_t all = size + 1;
    for (const bool is_server : {false, true}) {
        must(inward(is_server, bytes, all) == inward(is_server, bytes, 1));
    }
    const Result sent = outward(bytes, all);
    must(sent == outward(bytes, 1));
    must(sent.bytes.size() <= bytes.size() + (bytes.size() / 8 + 1) * FrameShim::reserve);
    return 0;
}
