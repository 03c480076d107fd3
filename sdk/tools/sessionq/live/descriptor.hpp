// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

namespace sessionq::cli {

/// Owns a file descriptor. Owns nothing if it is below zero.
class Descriptor {
public:
    explicit Descriptor(int descriptor) noexcept : descriptor_{descriptor} {}
    ~Descriptor() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    [[nodiscard]] int get() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

} // namespace sessionq::cli
