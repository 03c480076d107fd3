// SPDX-License-Identifier: MIT
#include <sessionq/named_key_credential.hpp>

#include <utility>

#include "client/check.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"
#include "servicebus/key_ring.hpp"

namespace sessionq::inline v1 {
namespace {

detail::servicebus::NamedKey checked(std::string name, std::string key) {
    detail::client::require_argument(!name.empty(),
                                     "NamedKeyCredential: the name of the key is empty");
    detail::client::require_argument(!key.empty(),
                                     "NamedKeyCredential: the key '" + name + "' is empty");
    return {.name = std::move(name), .key = std::move(key)};
}

} // namespace

NamedKeyCredential::NamedKeyCredential(std::string key_name, std::string key)
    : ring_{std::make_shared<detail::servicebus::KeyRing>(
          checked(std::move(key_name), std::move(key)))} {}

void NamedKeyCredential::update(std::string key_name, std::string key) const {
    detail::client::Access::ring(*this)->set({}, checked(std::move(key_name), std::move(key)));
}

void NamedKeyCredential::update_entity(const std::string& entity, std::string key_name,
                                       std::string key) const {
    detail::client::require_argument(!entity.empty(), "NamedKeyCredential: the entity is empty");
    detail::client::Access::ring(*this)->set(entity, checked(std::move(key_name), std::move(key)));
}

Result<NamedKeyCredential> NamedKeyCredential::try_make(std::string key_name,
                                                        std::string key) noexcept {
    return core::as_result([&] { return NamedKeyCredential{std::move(key_name), std::move(key)}; });
}

Result<void> NamedKeyCredential::try_update(std::string key_name, std::string key) const noexcept {
    return core::as_result([&] { update(std::move(key_name), std::move(key)); });
}

Result<void> NamedKeyCredential::try_update_entity(const std::string& entity, std::string key_name,
                                                   std::string key) const noexcept {
    return core::as_result([&] { update_entity(entity, std::move(key_name), std::move(key)); });
}

} // namespace sessionq::inline v1
