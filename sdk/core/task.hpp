// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace sessionq::core {

/// A move-only `void()` callable. Stores callables of up to 56 bytes in place, so posting the usual
/// captures allocates nothing.
class Task {
public:
    Task() = default;

    template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, Task> && std::invocable<std::remove_cvref_t<F>&>)
        Task(F&& f) { // implicit: any callable is a task
        using Stored = std::remove_cvref_t<F>;
        if constexpr (fits<Stored>) {
            ::new (static_cast<void*>(storage_)) Stored(std::forward<F>(f));
            table_ = &in_place_table<Stored>;
        } else {
            ::new (static_cast<void*>(storage_)) Stored*(new Stored(std::forward<F>(f)));
            table_ = &boxed_table<Stored>;
        }
    }

    Task(Task&& other) noexcept { take(other); }
    Task& operator=(Task&& other) noexcept {
        if (this != &other) {
            reset();
            take(other);
        }
        return *this;
    }
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    ~Task() { reset(); }

    void operator()() { table_->run(storage_); }
    explicit operator bool() const noexcept { return table_ != nullptr; }

private:
    struct Table {
        void (*run)(void*);
        void (*move)(void* to, void* from) noexcept;
        void (*destroy)(void*) noexcept;
    };

    static constexpr std::size_t capacity = 56;

    template <typename F>
    static constexpr bool fits =
        sizeof(F) <= capacity &&
        alignof(F) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<F>;

    template <typename F>
    static constexpr Table in_place_table{
        [](void* at) { (*static_cast<F*>(at))(); },
        [](void* to, void* from) noexcept {
            ::new (to) F(std::move(*static_cast<F*>(from)));
            static_cast<F*>(from)->~F();
        },
        [](void* at) noexcept { static_cast<F*>(at)->~F(); },
    };

    template <typename F>
    static constexpr Table boxed_table{
        [](void* at) { (**static_cast<F**>(at))(); },
        [](void* to, void* from) noexcept { ::new (to) F*(*static_cast<F**>(from)); },
        [](void* at) noexcept { delete *static_cast<F**>(at); },
    };

    void take(Task& other) noexcept {
        if (other.table_ != nullptr) {
            other.table_->move(storage_, other.storage_);
            table_ = std::exchange(other.table_, nullptr);
        }
    }
    void reset() noexcept {
        if (table_ != nullptr) {
            std::exchange(table_, nullptr)->destroy(storage_);
        }
    }

    const Table* table_{nullptr};
    alignas(std::max_align_t) unsigned char storage_[capacity];
};

} // namespace sessionq::core
