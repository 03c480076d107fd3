// SPDX-License-Identifier: MIT
#include "servicebus/token_source.hpp"

#include <charconv>
#include <chrono>
#include <utility>

#include "servicebus/shared_access_signature.hpp"

namespace sessionq::detail::servicebus {
namespace {

constexpr std::string_view signature_type = "servicebus.windows.net:sastoken";
constexpr std::chrono::hours key_token_life{1};

class KeyTokens final : public TokenSource {
public:
    explicit KeyTokens(std::shared_ptr<const KeyRing> keys) : keys_{std::move(keys)} {}

    void ask(std::string_view audience, WallTime now, Deadline, Handler handler) override {
        const WallTime expires = now + key_token_life;
        const auto [name, key] = keys_->find(audience);
        handler(Token{.type = std::string{signature_type},
                      .text = make_shared_access_signature(audience, name, key, expires),
                      .expires = expires});
    }

private:
    const std::shared_ptr<const KeyRing> keys_;
};

class ReadyTokens final : public TokenSource {
public:
    explicit ReadyTokens(std::string signature) : signature_{std::move(signature)} {}

    void ask(std::string_view, WallTime now, Deadline, Handler handler) override {
        handler(
            Token{.type = std::string{signature_type}, .text = signature_, .expires = expiry(now)});
    }

private:
    /// The time in "se". A signature without one is assumed to last.
    [[nodiscard]] WallTime expiry(WallTime now) const {
        const std::size_t found = signature_.find("se=");
        long long seconds = 0;
        if (found == std::string::npos ||
            std::from_chars(signature_.data() + found + 3, signature_.data() + signature_.size(),
                            seconds)
                    .ec != std::errc{}) {
            return now + std::chrono::hours{24};
        }
        constexpr long long latest = 9'000'000'000; // within the range of a clock
        return WallTime{std::chrono::seconds{std::min(seconds, latest)}};
    }

    const std::string signature_;
};

} // namespace

TokenSourcePtr make_key_tokens(std::shared_ptr<const KeyRing> keys) {
    return std::make_shared<KeyTokens>(std::move(keys));
}

TokenSourcePtr make_key_tokens(std::string key_name, std::string key) {
    return make_key_tokens(
        std::make_shared<KeyRing>(NamedKey{.name = std::move(key_name), .key = std::move(key)}));
}

TokenSourcePtr make_ready_tokens(std::string signature) {
    return std::make_unique<ReadyTokens>(std::move(signature));
}

} // namespace sessionq::detail::servicebus
