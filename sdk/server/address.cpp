// SPDX-License-Identifier: MIT
#include "server/address.hpp"

#include <algorithm>
#include <vector>

namespace sessionq::server {
namespace {

std::vector<std::string_view> split(std::string_view path) {
    std::vector<std::string_view> segments;
    for (;;) {
        const std::size_t slash = path.find('/');
        segments.push_back(path.substr(0, slash));
        if (slash == std::string_view::npos) {
            return segments;
        }
        path.remove_prefix(slash + 1);
    }
}

// Returns well-known segments in the broker's spelling.
std::string_view canonical(std::string_view segment, bool is_inner) noexcept {
    if (segment.starts_with('$')) {
        for (const std::string_view known : {"$DeadLetterQueue", "$Transfer"}) {
            if (equal_ignoring_case(segment, known)) {
                return known;
            }
        }
    } else if (is_inner && equal_ignoring_case(segment, "Subscriptions")) {
        return "Subscriptions";
    }
    return segment;
}

} // namespace

std::string_view path_of(std::string_view address) noexcept {
    if (const std::size_t scheme = address.find("://"); scheme != std::string_view::npos) {
        address.remove_prefix(scheme + 3);
        address.remove_prefix(std::min(address.find('/'), address.size()));
    }
    while (address.starts_with('/')) {
        address.remove_prefix(1);
    }
    while (address.ends_with('/')) {
        address.remove_suffix(1);
    }
    return address;
}

std::optional<NodeAddress> parse_address(std::string_view address) {
    const std::string_view path = path_of(address);
    if (path.empty()) {
        return std::nullopt;
    }
    if (equal_ignoring_case(path, "$cbs")) {
        return NodeAddress{.kind = NodeAddress::Kind::claims};
    }
    auto segments = split(path);
    NodeAddress node;
    if (equal_ignoring_case(segments.back(), "$management")) {
        node.kind = NodeAddress::Kind::management;
        segments.pop_back();
    }
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (i != 0) {
            node.entity += '/';
        }
        node.entity += canonical(segments[i], i != 0 && i + 1 != segments.size());
    }
    return node.entity.empty() ? std::nullopt : std::optional{std::move(node)};
}

} // namespace sessionq::server
