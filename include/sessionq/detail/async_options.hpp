// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/call_options.hpp>

/// The parts of <sessionq/async.hpp>. Not for applications.
namespace sessionq::detail {

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13

/// Takes options only from a variable. GCC 12 destroys an aggregate twice that is written inside a
/// `co_await` expression, so there `{.stop = token}` would release the token twice.
template <typename Options>
class NamedOptions {
public:
    constexpr NamedOptions() noexcept = default;
    // NOLINTNEXTLINE(google-explicit-constructor): an argument
    NamedOptions(const Options& named) noexcept : named_{&named} {}
    NamedOptions(const Options&&) = delete;

    // NOLINTNEXTLINE(google-explicit-constructor): an argument again
    operator const Options&() const {
        static const Options none;
        return named_ != nullptr ? *named_ : none;
    }

private:
    const Options* named_{nullptr};
};

template <typename Options>
using AsyncOptions = NamedOptions<Options>;

#else

template <typename Options>
using AsyncOptions = const Options&;

#endif

using AsyncCallOptions = AsyncOptions<CallOptions>;

} // namespace sessionq::detail
