// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <variant>

#include <sessionq/error.hpp>

namespace sessionq::core {

/// A value, or the failure that prevented it. Ports return it; the public classes throw the failure
/// as an `Error`.
template <typename T>
class [[nodiscard]] Result {
public:
    // Both convert implicitly, so that a function returns a value or a failure.
    Result(T value) : state_{std::in_place_index<0>, std::move(value)} {}
    Result(Failure failure) : state_{std::in_place_index<1>, std::move(failure)} {}

    [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }

    [[nodiscard]] T& value() & { return std::get<0>(state_); }
    [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
    [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
    [[nodiscard]] const Failure& failure() const { return std::get<1>(state_); }

    /// Returns the value, or throws the failure as an `Error`.
    T take_or_throw() && {
        if (!ok()) {
            throw Error{std::get<1>(std::move(state_))};
        }
        return std::get<0>(std::move(state_));
    }

private:
    std::variant<T, Failure> state_;
};

/// The value type of operations that return nothing.
using Done = std::monostate;

} // namespace sessionq::core
