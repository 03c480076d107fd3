// SPDX-License-Identifier: MIT
#include "amqp/proxy.hpp"

#include <algorithm>

#include "core/ascii_case.hpp"

namespace sessionq::amqp {
namespace {

bool stands_for(std::string_view entry, std::string_view host) {
    if (entry == "*") {
        return true;
    }
    if (entry.starts_with('.')) {
        entry.remove_prefix(1);
    }
    if (entry.empty() || entry.size() > host.size()) {
        return false;
    }
    const std::size_t before = host.size() - entry.size();
    return core::equal_ignoring_case(host.substr(before), entry) &&
           (before == 0 || host[before - 1] == '.');
}

} // namespace

bool Proxy::serves(std::string_view host) const {
    return std::ranges::none_of(bypass,
                                [&](const std::string& entry) { return stands_for(entry, host); });
}

} // namespace sessionq::amqp
