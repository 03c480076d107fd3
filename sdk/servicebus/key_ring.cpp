// SPDX-License-Identifier: MIT
#include "servicebus/key_ring.hpp"

#include <utility>

#include "core/ascii_case.hpp"

namespace sessionq::detail::servicebus {
namespace {

std::string_view path_of(std::string_view audience) noexcept {
    const std::size_t scheme = audience.find("://");
    const std::size_t slash = audience.find('/', scheme == std::string_view::npos ? 0 : scheme + 3);
    return slash == std::string_view::npos ? std::string_view{} : audience.substr(slash + 1);
}

} // namespace

void KeyRing::set(std::string_view entity, NamedKey key) {
    const std::lock_guard lock{mutex_};
    keys_.insert_or_assign(core::lower_case(entity), std::move(key));
}

NamedKey KeyRing::find(std::string_view audience) const {
    const std::string path = core::lower_case(path_of(audience));
    const std::lock_guard lock{mutex_};
    std::string_view node = path;
    for (auto found = keys_.find(node);; found = keys_.find(node)) {
        if (found != keys_.end()) {
            return found->second;
        }
        const std::size_t slash = node.rfind('/');
        node = node.substr(0, slash == std::string_view::npos ? 0 : slash);
    }
}

} // namespace sessionq::detail::servicebus
