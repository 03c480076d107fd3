// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include <sessionq/token_credential.hpp>

#include "core/event_loop.hpp"
#include "servicebus/token_source.hpp"

namespace sessionq::detail::client {

/// Gets tokens from an application's `TokenCredential`. `Client::connect` makes a
/// `CredentialTokens` for each receive thread. The `Authorizer` of the thread's connection asks it
/// for tokens. One token serves all audiences until half of the token's life has passed.
///
/// A separate thread calls the credential, because the credential is user code and may wait. If the
/// credential does not return, nobody waits for it (R18). Bound to the loop.
class CredentialTokens final : public servicebus::TokenSource {
public:
    CredentialTokens(std::shared_ptr<TokenCredential> credential, core::EventLoop& loop);
    ~CredentialTokens() override;
    CredentialTokens(const CredentialTokens&) = delete;
    CredentialTokens& operator=(const CredentialTokens&) = delete;

    void ask(std::string_view audience, WallTime now, Deadline deadline, Handler handler) override;

private:
    struct Gate;

    void start(Deadline deadline);
    void given(core::Result<servicebus::Token> token);

    const std::shared_ptr<TokenCredential> credential_;
    core::EventLoop& loop_;
    std::vector<Handler> waiting_{};
    std::optional<servicebus::Token> kept_{};
    TimePoint kept_until_{};
    std::shared_ptr<Gate> gate_;
};

} // namespace sessionq::detail::client
