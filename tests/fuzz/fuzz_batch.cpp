// SPDX-License-Identifier: MIT
// Batches from outside. A batch that is split and put together again splits into the same messages.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "amqp/codec/batch.hpp"

using namespace sessionq::amqp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto messages = split_batch({reinterpret_cast<const char*>(data), size});
    if (!messages) {
        return 0;
    }
    const std::vector<std::string> parts{messages->begin(), messages->end()};
    const std::string whole = make_batch(parts);
    const auto again = split_batch(whole);
    if (!again || *again != std::vector<std::string_view>{parts.begin(), parts.end()}) {
        std::abort();
    }
    return 0;
}
