// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <sessionq/error.hpp>

namespace sessionq::inline v1 {

template <typename T>
class Result;

} // namespace sessionq::inline v1

namespace sessionq::detail {

/// Throws the failure as an `Error`. In the library, so that a program without exceptions links.
[[noreturn]] void throw_error(Failure failure);

template <typename T>
inline constexpr bool is_result = false;
template <typename T>
inline constexpr bool is_result<Result<T>> = true;

} // namespace sessionq::detail

namespace sessionq::inline v1 {

/// Makes a failed `Result` of any type, as `std::unexpected` does for `std::expected`. A `Failure`
/// alone does so too.
///
/// Example:
///
///     const auto half = [](int number) -> Result<int> {
///         if (number % 2 != 0) {
///             return Unexpected{Errc::invalid_argument, "the number is odd"};
///         }
///         return number / 2;
///     };
///     std::cout << half(7).value_or(0) << '\n'; // 0
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class Unexpected {
public:
    explicit Unexpected(Failure failure) noexcept : failure_{std::move(failure)} {}
    Unexpected(Errc code, std::string detail)
        : failure_{.code = code, .detail = std::move(detail)} {}

    /// The failure.
    [[nodiscard]] const Failure& error() const& noexcept { return failure_; }
    [[nodiscard]] Failure error() && noexcept { return std::move(failure_); }

private:
    Failure failure_;
};

/// A value, or the failure that prevented it. The functions whose names begin with `try_` return
/// it. It has the shape of C++23's `std::expected<T, Failure>`. It needs neither exceptions nor
/// run-time type information in the program that includes it.
///
/// Example:
///
///     const Result<Sender> orders = Sender::try_make(client, "orders");
///     if (!orders) {
///         std::cerr << orders.error().to_string() << '\n';
///         return;
///     }
///     const auto sent = orders->try_send(Message::of("placed").in_session("ada"));
///     if (!sent && sent.error().code == Errc::quota_exceeded) {
///         std::cerr << "the queue is full\n";
///     }
///
/// A `try_` function has the arguments, the effect and the errors of the function without the
/// prefix. It throws nothing. If memory runs out, it returns resource_exhausted. An exception that
/// is not sessionq's, for example of a `Tracer`, becomes internal_error, unless the function says
/// otherwise.
///
/// Misuse: `*`, `->` and `error` do not check. Their behaviour is undefined if the result holds the
/// other one. `value` checks.
///
/// Difference from `std::expected`: of a temporary result, `*`, `value` and `error` return a copy
/// by value that the members were moved into. So a range-based `for` over it is safe.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe to read.
template <typename T>
class [[nodiscard]] Result {
    static_assert(std::is_object_v<T> && !std::is_array_v<T>, "a Result holds a value or is void");
    static_assert(!std::same_as<std::remove_cv_t<T>, Failure> &&
                      !std::same_as<std::remove_cv_t<T>, Unexpected>,
                  "the value of a Result is no failure");

public:
    using value_type = T;
    using error_type = Failure;

    /// Holds a value, made from nothing.
    Result() requires std::default_initializable<T>
    = default;

    /// Holds a value. Implicit if the conversion to `T` is.
    template <typename U = T>
    requires(!std::same_as<std::remove_cvref_t<U>, Result> &&
             !std::same_as<std::remove_cvref_t<U>, Failure> &&
             !std::same_as<std::remove_cvref_t<U>, Unexpected> && std::constructible_from<T, U>)
        // NOLINTNEXTLINE(google-explicit-constructor): a value is a result
        explicit(!std::convertible_to<U, T>) Result(U&& value)
        : state_{std::in_place_index<0>, std::forward<U>(value)} {}

    // NOLINTNEXTLINE(google-explicit-constructor): a failure is a result
    Result(Failure failure) noexcept : state_{std::in_place_index<1>, std::move(failure)} {}
    // NOLINTNEXTLINE(google-explicit-constructor): a failure is a result
    Result(Unexpected failure) noexcept : Result{std::move(failure).error()} {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

    /// The value. It must be there.
    [[nodiscard]] T& operator*() & noexcept { return *std::get_if<0>(&state_); }
    [[nodiscard]] const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
    [[nodiscard]] T operator*() && { return std::move(*std::get_if<0>(&state_)); }
    [[nodiscard]] T* operator->() noexcept { return std::get_if<0>(&state_); }
    [[nodiscard]] const T* operator->() const noexcept { return std::get_if<0>(&state_); }

    /// The failure. It must be there.
    [[nodiscard]] Failure& error() & noexcept { return *std::get_if<1>(&state_); }
    [[nodiscard]] const Failure& error() const& noexcept { return *std::get_if<1>(&state_); }
    [[nodiscard]] Failure error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

    /// Returns the value, or throws the failure as an `Error`. In a program without exceptions a
    /// failure ends the program (`std::terminate`).
    [[nodiscard]] T& value() & {
        require();
        return **this;
    }
    [[nodiscard]] const T& value() const& {
        require();
        return **this;
    }
    [[nodiscard]] T value() && {
        require();
        return *std::move(*this);
    }

    /// Returns the value, or `other` if there is none.
    template <typename U>
    [[nodiscard]] T value_or(U&& other) const& {
        return has_value() ? **this : static_cast<T>(std::forward<U>(other));
    }
    template <typename U>
    [[nodiscard]] T value_or(U&& other) && {
        return has_value() ? *std::move(*this) : static_cast<T>(std::forward<U>(other));
    }

    /// Calls `function` with the value, and returns its `Result`. Returns the failure if there is
    /// no value.
    template <typename F>
    auto and_then(F&& function) & {
        return and_then_of(*this, std::forward<F>(function));
    }
    template <typename F>
    auto and_then(F&& function) const& {
        return and_then_of(*this, std::forward<F>(function));
    }
    template <typename F>
    auto and_then(F&& function) && {
        return and_then_of(std::move(*this), std::forward<F>(function));
    }

    /// Calls `function` with the value, and returns what it returns as a `Result`. Returns the
    /// failure if there is no value.
    template <typename F>
    auto transform(F&& function) & {
        return transform_of(*this, std::forward<F>(function));
    }
    template <typename F>
    auto transform(F&& function) const& {
        return transform_of(*this, std::forward<F>(function));
    }
    template <typename F>
    auto transform(F&& function) && {
        return transform_of(std::move(*this), std::forward<F>(function));
    }

    /// Calls `function` with the failure, and returns its `Result`. Returns the value if there is
    /// one.
    template <typename F>
    Result or_else(F&& function) const& {
        return or_else_of(*this, std::forward<F>(function));
    }
    template <typename F>
    Result or_else(F&& function) && {
        return or_else_of(std::move(*this), std::forward<F>(function));
    }

private:
    void require() const {
        if (!has_value()) {
            detail::throw_error(error());
        }
    }

    template <typename Self, typename F>
    static auto and_then_of(Self&& self, F&& function) {
        using Next =
            std::remove_cvref_t<std::invoke_result_t<F, decltype(*std::forward<Self>(self))>>;
        static_assert(detail::is_result<Next>, "the function of and_then returns a Result");
        if (!self.has_value()) {
            return Next{std::forward<Self>(self).error()};
        }
        return Next{std::invoke(std::forward<F>(function), *std::forward<Self>(self))};
    }

    template <typename Self, typename F>
    static auto transform_of(Self&& self, F&& function) {
        using U = std::remove_cvref_t<std::invoke_result_t<F, decltype(*std::forward<Self>(self))>>;
        if (!self.has_value()) {
            return Result<U>{std::forward<Self>(self).error()};
        }
        if constexpr (std::is_void_v<U>) {
            std::invoke(std::forward<F>(function), *std::forward<Self>(self));
            return Result<U>{};
        } else {
            return Result<U>{std::invoke(std::forward<F>(function), *std::forward<Self>(self))};
        }
    }

    template <typename Self, typename F>
    static Result or_else_of(Self&& self, F&& function) {
        if (self.has_value()) {
            return std::forward<Self>(self);
        }
        return std::invoke(std::forward<F>(function), std::forward<Self>(self).error());
    }

    std::variant<T, Failure> state_;
};

/// Success, or the failure that prevented it.
///
/// Example:
///
///     if (const Result<void> sent = sender.try_send(Message::of("placed").in_session("ada"));
///         !sent) {
///         std::cerr << sent.error().to_string() << '\n';
///     }
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe to read.
template <>
class [[nodiscard]] Result<void> {
public:
    using value_type = void;
    using error_type = Failure;

    /// Success.
    Result() noexcept = default;
    // NOLINTNEXTLINE(google-explicit-constructor): a failure is a result
    Result(Failure failure) noexcept : failure_{std::move(failure)} {}
    // NOLINTNEXTLINE(google-explicit-constructor): a failure is a result
    Result(Unexpected failure) noexcept : failure_{std::move(failure).error()} {}

    [[nodiscard]] bool has_value() const noexcept { return !failure_; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    void operator*() const noexcept {}

    /// The failure. It must be there.
    [[nodiscard]] Failure& error() & noexcept { return *failure_; }
    [[nodiscard]] const Failure& error() const& noexcept { return *failure_; }
    [[nodiscard]] Failure error() && noexcept { return std::move(*failure_); }

    /// Throws the failure as an `Error` if there is one. In a program without exceptions it ends
    /// the program (`std::terminate`).
    void value() const {
        if (!has_value()) {
            detail::throw_error(*failure_);
        }
    }

    /// Calls `function`, and returns its `Result`. Returns the failure if there is one.
    template <typename F>
    auto and_then(F&& function) const {
        using Next = std::remove_cvref_t<std::invoke_result_t<F>>;
        static_assert(detail::is_result<Next>, "the function of and_then returns a Result");
        if (!has_value()) {
            return Next{*failure_};
        }
        return Next{std::invoke(std::forward<F>(function))};
    }

    /// Calls `function`, and returns what it returns as a `Result`. Returns the failure if there is
    /// one.
    template <typename F>
    auto transform(F&& function) const {
        using U = std::remove_cvref_t<std::invoke_result_t<F>>;
        if (!has_value()) {
            return Result<U>{*failure_};
        }
        if constexpr (std::is_void_v<U>) {
            std::invoke(std::forward<F>(function));
            return Result<U>{};
        } else {
            return Result<U>{std::invoke(std::forward<F>(function))};
        }
    }

    /// Calls `function` with the failure, and returns its `Result`. Returns success if there is no
    /// failure.
    template <typename F>
    Result or_else(F&& function) const {
        if (has_value()) {
            return {};
        }
        return std::invoke(std::forward<F>(function), *failure_);
    }

private:
    std::optional<Failure> failure_{};
};

} // namespace sessionq::inline v1
