// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace sessionq::inline v1 {

/// See `Callback<Result(Args...)>`, which is the one to use.
template <typename Signature>
class Callback;

/// A function of the application that the library calls later. It is like `std::function`, but the
/// function need not be copyable. Copies of a callback then share the function. A function that is
/// copyable is copied with its callback.
///
/// Example: a function that owns a file.
///
///     auto file = std::make_unique<std::ofstream>("errors.txt");
///     processor.on_error([file = std::move(file)](const ErrorContext& error) {
///         *file << error.to_string() << std::endl;
///     });
///
/// Thread safety:
/// Distinct objects: safe, but copies may share a function, which must then be safe.
/// Shared objects: safe to call if the function is.
template <typename Result, typename... Args>
class Callback<Result(Args...)> {
public:
    /// Empty. Do not call it.
    Callback() = default;
    /// Empty. Do not call it.
    // NOLINTNEXTLINE(google-explicit-constructor): as std::function
    Callback(std::nullptr_t) noexcept {}

    /// Takes the function. It is empty if `function` is: a null pointer, or an empty
    /// `std::function`.
    template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, Callback> &&
             std::is_invocable_r_v<Result, std::remove_cvref_t<F>&, Args...>)
        // NOLINTNEXTLINE(google-explicit-constructor): as std::function
        Callback(F function)
        : function_{copyable(std::move(function))} {}

    Result operator()(Args... args) const { return function_(std::forward<Args>(args)...); }

    /// Whether it is not empty.
    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(function_); }

private:
    template <typename F>
    [[nodiscard]] static auto copyable(F function) {
        if constexpr (std::copy_constructible<F>) {
            return function;
        } else {
            return [shared = std::make_shared<F>(std::move(function))](Args... args) -> Result {
                if constexpr (std::is_void_v<Result>) {
                    std::invoke(*shared, std::forward<Args>(args)...);
                } else {
                    return std::invoke(*shared, std::forward<Args>(args)...);
                }
            };
        }
    }

    std::function<Result(Args...)> function_{};
};

} // namespace sessionq::inline v1
