// SPDX-License-Identifier: MIT
#include "amqp/codec/extent.hpp"

namespace sessionq::amqp {

std::size_t described_size(std::string_view bytes, int deepest) noexcept {
    if (deepest == 0) {
        return 0;
    }
    const std::size_t descriptor = encoded_size(bytes.substr(1), deepest - 1);
    const std::size_t value =
        descriptor == 0 ? 0 : encoded_size(bytes.substr(1 + descriptor), deepest - 1);
    return value == 0 ? 0 : 1 + descriptor + value;
}

} // namespace sessionq::amqp
