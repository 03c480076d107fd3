#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

namespace sessionq::servicebus {

/// What is put to $cbs for an audience.
struct Token {
    std::string type{};
    std::string text{}; ///< a secret
    WallTime expires{};
};

/// Gives tokens for audiences. Used on one thread; answers at once.
class TokenSource {
public:
    virtual ~TokenSource() = default;
    [[nodiscard]] virtual Token token(std::string_view audience, WallTime now) = 0;
};

using TokenSourcePtr = std::shared_ptr<TokenSource>;

/// Signs each token with a key; it lasts an hour.
[[nodiscard]] TokenSourcePtr make_key_tokens(std::string key_name, std::string key);
/// Hands on one signature made elsewhere, for as long as it lasts.
[[nodiscard]] TokenSourcePtr make_ready_tokens(std::string signature);

} // namespace sessionq::servicebus
