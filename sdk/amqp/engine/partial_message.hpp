// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "amqp/engine/outcome.hpp"

namespace sessionq::amqp {

/// Bytes of a message of which more is to come. A large message grows without a copy, unlike in a
/// string: the system moves its pages. Until it is large it grows in few steps, which copy it. Room
/// that is not used yet has no pages.
class PartialBytes {
public:
    void append(std::string_view bytes) {
        const std::size_t needed = size_ + bytes.size();
        if (needed > capacity_) {
            grow(std::max(needed, capacity_ * (capacity_ < large ? 4 : 2)));
        }
        if (!bytes.empty()) {
            std::memcpy(bytes_.get() + size_, bytes.data(), bytes.size());
            size_ = needed;
        }
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::string_view view() const noexcept { return {bytes_.get(), size_}; }

private:
    static constexpr std::size_t large = std::size_t{1} << 20U;

    struct Free {
        void operator()(char* bytes) const noexcept { std::free(bytes); }
    };

    void grow(std::size_t capacity) {
        auto* const grown = static_cast<char*>(std::realloc(bytes_.get(), capacity));
        if (grown == nullptr) {
            throw std::bad_alloc{};
        }
        static_cast<void>(bytes_.release()); // realloc has it
        bytes_.reset(grown);
        capacity_ = capacity;
    }

    std::unique_ptr<char, Free> bytes_{};
    std::size_t size_{0};
    std::size_t capacity_{0};
};

/// The fields of a transfer that concern the whole message.
struct TransferFacts {
    std::uint32_t id{0};
    std::uint32_t message_format{0};
    OutcomeKind state{OutcomeKind::none};
    bool settled{false};
};

/// A message of which more is to come.
struct PartialMessage {
    PartialBytes bytes{};
    std::string tag{};
    TransferFacts facts{};
    bool refused{false}; ///< the peer knows; its other parts are passed over
};

} // namespace sessionq::amqp
