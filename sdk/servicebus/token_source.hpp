// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <sessionq/deadline.hpp>

#include "core/result.hpp"
#include "servicebus/key_ring.hpp"

namespace sessionq::detail::servicebus {

/// A token for an audience, as it is sent to $cbs.
struct Token {
    std::string type{};
    std::string text{}; ///< Secret.
    WallTime expires{};
};

/// Makes tokens for audiences. Used on one thread.
class TokenSource {
public:
    using Handler = std::function<void(core::Result<Token>)>;

    virtual ~TokenSource() = default;
    /// `handler` runs at most once, on the calling thread, within the call or later, but not after
    /// the source is destroyed. An answer after `deadline` is ignored.
    virtual void ask(std::string_view audience, WallTime now, Deadline deadline,
                     Handler handler) = 0;
};

using TokenSourcePtr = std::shared_ptr<TokenSource>;

/// Signs each token with a key. A token lasts an hour.
[[nodiscard]] TokenSourcePtr make_key_tokens(std::shared_ptr<const KeyRing> keys);
[[nodiscard]] TokenSourcePtr make_key_tokens(std::string key_name, std::string key);
/// Passes on one signature made elsewhere. The broker decides whether it has expired.
[[nodiscard]] TokenSourcePtr make_ready_tokens(std::string signature);

} // namespace sessionq::detail::servicebus
