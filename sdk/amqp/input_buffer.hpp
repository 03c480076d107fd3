// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include "amqp/stream.hpp"

namespace sessionq::amqp {

/// The memory that a socket reads into. It is small for a peer that sends little, and grows when a
/// read fills it.
class InputBuffer {
public:
    static constexpr std::size_t smallest = 4 * 1024;
    static constexpr std::size_t largest = Stream::read_size;
    /// This many small reads in a row make it small again.
    static constexpr unsigned patience = 256;

    /// The memory that the next read may fill.
    [[nodiscard]] char* data() noexcept { return bytes_.get(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Prepares for the next read. `last`: how many bytes the read before returned.
    void prepare(std::size_t last) {
        if (last == size_ && size_ < largest) {
            resize(largest);
        } else if (last < smallest && size_ > smallest) {
            if (++small_reads_ == patience) {
                resize(smallest);
            }
        } else {
            small_reads_ = 0;
        }
    }

private:
    void resize(std::size_t size) {
        bytes_ = std::make_unique_for_overwrite<char[]>(size);
        size_ = size;
        small_reads_ = 0;
    }

    std::size_t size_{smallest};
    std::unique_ptr<char[]> bytes_{std::make_unique_for_overwrite<char[]>(smallest)};
    unsigned small_reads_{0};
};

} // namespace sessionq::amqp
