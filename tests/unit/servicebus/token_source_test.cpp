// SPDX-License-Identifier: MIT
#include "servicebus/token_source.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

servicebus::Token token_of(servicebus::TokenSource& source, WallTime now) {
    servicebus::Token got;
    source.ask("sb://h/orders", now, Deadline::never(),
               [&got](core::Result<servicebus::Token> token) { got = std::move(token).value(); });
    return got;
}

} // namespace

TEST_CASE("key tokens: are signed for the audience and last an hour") {
    const auto source = servicebus::make_key_tokens("name", "key");
    const WallTime now{1'700'000'000s};
    const servicebus::Token token = token_of(*source, now);
    CHECK(token.type == "servicebus.windows.net:sastoken");
    CHECK(token.expires == now + 1h);
    CHECK(token.text.find("sr=sb%3A%2F%2Fh%2Forders&") != std::string::npos);
    CHECK(token.text.find("se=1700003600") != std::string::npos);
    CHECK(token.text.find("key") == std::string::npos);
}

TEST_CASE("ready tokens: are handed on as they are, until they say they expire") {
    const auto source =
        servicebus::make_ready_tokens("SharedAccessSignature sr=x&sig=y&se=1700000100&skn=z");
    const servicebus::Token token = token_of(*source, WallTime{1'700'000'000s});
    CHECK(token.text == "SharedAccessSignature sr=x&sig=y&se=1700000100&skn=z");
    CHECK(token.expires == WallTime{1'700'000'100s});
}
