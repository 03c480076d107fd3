// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace sessionq::detail::servicebus {

struct NamedKey {
    std::string name{};
    std::string key{}; ///< Secret.
};

/// The shared access keys of clients, which may change while they sign with them. Any thread may
/// call it.
class KeyRing {
public:
    explicit KeyRing(NamedKey key) { set({}, std::move(key)); }

    /// For the entity and the nodes below it. Empty: for all that have no key of their own.
    void set(std::string_view entity, NamedKey key);

    /// `audience`: "sb://host/node".
    [[nodiscard]] NamedKey find(std::string_view audience) const;

private:
    mutable std::mutex mutex_{};
    std::map<std::string, NamedKey, std::less<>> keys_{}; // by entities in lower case
};

} // namespace sessionq::detail::servicebus
