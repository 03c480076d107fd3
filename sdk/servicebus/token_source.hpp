#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <sessionq/deadline.hpp>

#include "core/result.hpp"

namespace sessionq::servicebus {

/// What is put to $cbs for an audience.
struct Token {
    std::string type{};
    std::string text{}; ///< a secret
    WallTime expires{};
};

/// Gives tokens for audiences. Used on one thread.
class TokenSource {
public:
    using Handler = std::function<void(core::Result<Token>)>;

    virtual ~TokenSource() = default;
    /// `handler` runs at most once, on the thread that asked, within the call or later; not after
    /// the source is destroyed. What comes after `deadline` is of no use.
    virtual void ask(std::string_view audience, WallTime now, Deadline deadline,
                     Handler handler) = 0;
};

using TokenSourcePtr = std::shared_ptr<TokenSource>;

/// Signs each token with a key; it lasts an hour.
[[nodiscard]] TokenSourcePtr make_key_tokens(std::string key_name, std::string key);
/// Hands on one signature made elsewhere. Whether it has expired the broker says, whose clock
/// counts.
[[nodiscard]] TokenSourcePtr make_ready_tokens(std::string signature);

} // namespace sessionq::servicebus
