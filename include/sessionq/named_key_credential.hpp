// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include <sessionq/result.hpp>

namespace sessionq::detail::client {
struct Access;
} // namespace sessionq::detail::client

namespace sessionq::detail::servicebus {
class KeyRing;
} // namespace sessionq::detail::servicebus

namespace sessionq::inline v1 {

/// A handle to the shared access keys of a client, which can be changed while the client uses them:
/// keys are rotated without a restart.
///
/// Example:
///
///     NamedKeyCredential credential{"orders-service", std::getenv("KEY")};
///     const auto azure = Client::connect("contoso", credential);
///     // ... later, when the key was renewed:
///     credential.update("orders-service", "the new key");
///
/// The next token is signed with the new key: at the first use of an entity, when half of a token's
/// hour has passed, and after the broker has refused a token. Links in use go on with the token
/// that they have. So let the new key be valid before `update`, and the old one for an hour after
/// it, as with the primary and the secondary key of Azure Service Bus.
///
/// Copies are handles to the same keys. A client keeps the keys alive. Several may share them.
///
/// Thread safety:
/// Distinct objects: safe, also handles to the same keys.
/// Shared objects: safe.
class NamedKeyCredential {
public:
    /// Makes a credential with the key for all entities that have none of their own.
    ///
    /// Errors: invalid_argument (an empty name or key; the text contains no key).
    NamedKeyCredential(std::string key_name, std::string key);

    /// Replaces the key for all entities that have none of their own. Never waits for a broker.
    ///
    /// Errors: invalid_argument (an empty name or key; the text contains no key). The key stays as
    /// it was then.
    void update(std::string key_name, std::string key) const;

    /// Sets or replaces the key of a queue, topic or subscription ("orders",
    /// "news/subscriptions/all") and of all nodes below it. The name of the entity ignores case.
    /// Use it where each entity has keys of its own, as Azure Service Bus allows.
    ///
    /// Errors: invalid_argument (an empty entity, name or key).
    void update_entity(const std::string& entity, std::string key_name, std::string key) const;

    // The same for programs that take errors as values. `Result` says what holds for all.

    /// Makes a credential. Does what the constructor does, and returns the failure instead of
    /// throwing it.
    static Result<NamedKeyCredential> try_make(std::string key_name, std::string key) noexcept;

    /// Replaces the key for all entities that have none of their own. Does what `update` does, and
    /// returns the failure instead of throwing it.
    Result<void> try_update(std::string key_name, std::string key) const noexcept;

    /// Sets or replaces the key of an entity. Does what `update_entity` does, and returns the
    /// failure instead of throwing it.
    Result<void> try_update_entity(const std::string& entity, std::string key_name,
                                   std::string key) const noexcept;

private:
    friend struct detail::client::Access;

    std::shared_ptr<detail::servicebus::KeyRing> ring_;
};

} // namespace sessionq::inline v1
