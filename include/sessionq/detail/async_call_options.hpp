// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/call_options.hpp>

/// The parts of <sessionq/async.hpp>. Not for applications.
namespace sessionq::detail {

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13

/// Takes the options of a call only from a variable. GCC 12 destroys an aggregate twice that is
/// written inside a `co_await` expression, so there `{.stop = token}` would release the token
/// twice.
class NamedCallOptions {
public:
    constexpr NamedCallOptions() noexcept = default;
    // NOLINTNEXTLINE(google-explicit-constructor): an argument
    NamedCallOptions(const CallOptions& named) noexcept : named_{&named} {}
    NamedCallOptions(const CallOptions&&) = delete;

    // NOLINTNEXTLINE(google-explicit-constructor): an argument again
    operator const CallOptions&() const {
        static const CallOptions none;
        return named_ != nullptr ? *named_ : none;
    }

private:
    const CallOptions* named_{nullptr};
};

using AsyncCallOptions = NamedCallOptions;

#else

using AsyncCallOptions = const CallOptions&;

#endif

} // namespace sessionq::detail
