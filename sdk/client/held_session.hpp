#pragma once

#include <memory>
#include <utility>

#include "client/client_core.hpp"
#include "client/session_status.hpp"

namespace sessionq::client {

/// What a `SessionReceiver` and its messages share. The session is given back before the client may
/// end.
class HeldSession {
public:
    HeldSession(std::shared_ptr<ClientCore> client, AcceptedSession session) noexcept
        : client_{std::move(client)}, session_{std::move(session)} {}
    HeldSession(const HeldSession&) = delete;
    HeldSession& operator=(const HeldSession&) = delete;
    ~HeldSession() = default;

    [[nodiscard]] const std::shared_ptr<ClientCore>& client() const noexcept { return client_; }
    [[nodiscard]] const std::shared_ptr<SessionStatus>& status() const noexcept {
        return session_.status();
    }

private:
    const std::shared_ptr<ClientCore> client_;
    const AcceptedSession session_;
};

using HeldSessionPtr = std::shared_ptr<HeldSession>;

} // namespace sessionq::client
