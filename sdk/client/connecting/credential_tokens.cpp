// SPDX-License-Identifier: MIT
#include "client/connecting/credential_tokens.hpp"

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "processor/message/exception_text.hpp"

namespace sessionq::detail::client {
namespace {

constexpr const char* scope = "https://servicebus.azure.net/.default";

core::Result<servicebus::Token> token_of(TokenCredential& credential, const TokenRequest& request) {
    try {
        AccessToken given = credential.get_token(request);
        if (given.token.empty()) {
            return Failure{.code = Errc::unauthorized,
                           .detail = "the credential gave an empty token"};
        }
        return servicebus::Token{
            .type = "jwt", .text = std::move(given.token), .expires = given.expires};
    } catch (...) {
        return Failure{.code = Errc::unauthorized,
                       .detail = "the credential gave no token: " +
                                 processor::exception_text(std::current_exception())};
    }
}

} // namespace

/// Lets the credential's thread reach its `CredentialTokens`, which may be destroyed while the
/// credential is asked.
struct CredentialTokens::Gate {
    std::mutex mutex{};
    CredentialTokens* source{nullptr}; // null: destroyed

    void hand_in(core::Result<servicebus::Token> token) {
        const std::lock_guard lock{mutex};
        if (source != nullptr) { // the loop lives longer than `source`
            source->loop_.post([gate = source->gate_, token = std::move(token)]() mutable {
                if (gate->source != nullptr) {
                    gate->source->given(std::move(token));
                }
            });
        }
    }
};

CredentialTokens::CredentialTokens(std::shared_ptr<TokenCredential> credential,
                                   core::EventLoop& loop)
    : credential_{std::move(credential)}, loop_{loop}, gate_{std::make_shared<Gate>()} {
    gate_->source = this;
}

CredentialTokens::~CredentialTokens() {
    const std::lock_guard lock{gate_->mutex};
    gate_->source = nullptr;
}

void CredentialTokens::ask(std::string_view, WallTime, Deadline deadline, Handler handler) {
    if (kept_ && loop_.now() < kept_until_) {
        handler(*kept_);
        return;
    }
    waiting_.push_back(std::move(handler));
    if (waiting_.size() == 1) { // nobody asks the credential yet
        start(deadline);
    }
}

void CredentialTokens::start(Deadline deadline) {
    try {
        std::thread{[gate = gate_, credential = credential_, deadline] {
            gate->hand_in(
                token_of(*credential, TokenRequest{.scope = scope, .deadline = deadline}));
        }}.detach();
    } catch (const std::system_error& error) {
        given(Failure{.code = Errc::resource_exhausted,
                      .detail = std::string{"no thread for the credential: "} + error.what()});
    }
}

void CredentialTokens::given(core::Result<servicebus::Token> token) {
    kept_.reset();
    if (token.ok()) {
        kept_ = token.value();
        kept_until_ = loop_.now() +
                      std::chrono::duration_cast<Duration>(kept_->expires - loop_.wall_now()) / 2;
    }
    for (const Handler& handler : std::exchange(waiting_, {})) {
        handler(token);
    }
}

} // namespace sessionq::detail::client
