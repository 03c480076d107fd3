// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <new>

namespace sessionq::core {

/// Reuses memory for objects of one size that are created and destroyed often. Caches at most
/// `max_cached` free blocks. Not thread-safe.
class Recycler {
public:
    Recycler(std::size_t size, std::size_t max_cached) noexcept
        : size_{size < sizeof(Free) ? sizeof(Free) : size}, max_cached_{max_cached} {}
    Recycler(const Recycler&) = delete;
    Recycler& operator=(const Recycler&) = delete;
    ~Recycler() { trim(); }

    [[nodiscard]] void* take() { return first_ != nullptr ? pop() : ::operator new(size_); }

    void give_back(void* memory) noexcept {
        if (is_watched || cached_ == max_cached_) {
            ::operator delete(memory);
            return;
        }
        first_ = ::new (memory) Free{first_};
        ++cached_;
    }

    [[nodiscard]] std::size_t cached() const noexcept { return cached_; }
    [[nodiscard]] std::size_t cached_bytes() const noexcept { return cached_ * size_; }

    /// Releases the cached blocks.
    void trim() noexcept {
        while (first_ != nullptr) {
            ::operator delete(pop());
        }
    }

private:
    struct Free {
        Free* next;
    };

#ifdef __SANITIZE_ADDRESS__
    static constexpr bool is_watched = true; // ASan then reports a use after free
#else
    static constexpr bool is_watched = false;
#endif

    void* pop() noexcept {
        Free* const free = first_;
        first_ = free->next;
        --cached_;
        return free;
    }

    const std::size_t size_;
    const std::size_t max_cached_;
    std::size_t cached_{0};
    Free* first_{nullptr};
};

} // namespace sessionq::core
