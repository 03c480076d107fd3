// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

namespace sessionq::core {

/// Refers to an object that may be gone when a callback arrives. Made by `Anchor`. For one thread.
template <typename T>
class WeakHandle {
public:
    WeakHandle() = default;

    /// Null once the object is destroyed.
    [[nodiscard]] T* get() const noexcept {
        const auto target = target_.lock();
        return target ? *target : nullptr;
    }

private:
    template <typename>
    friend class Anchor;
    explicit WeakHandle(const std::shared_ptr<T*>& target) noexcept : target_{target} {}

    std::weak_ptr<T*> target_{};
};

/// A member of an object that hands out weak handles to it. The handles end with the member.
template <typename T>
class Anchor {
public:
    explicit Anchor(T& object) : target_{std::make_shared<T*>(&object)} {}
    Anchor(const Anchor&) = delete;
    Anchor& operator=(const Anchor&) = delete;

    [[nodiscard]] WeakHandle<T> handle() const noexcept { return WeakHandle<T>{target_}; }

private:
    std::shared_ptr<T*> target_;
};

} // namespace sessionq::core
