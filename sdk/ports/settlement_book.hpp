// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/weak_handle.hpp"
#include "ports/session_link.hpp"

namespace sessionq::ports {

/// The settlements of a link that wait for the broker's answer, oldest first. Each is answered
/// once. An answer may destroy the link and the book with it.
class SettlementBook {
public:
    void add(Delivery& delivery) { waiting_.push_back(&delivery); }

    /// The broker answered. False: the settlement was answered before.
    [[nodiscard]] bool take(const Delivery& delivery);

    /// Answers every settlement with `why`, also one that is added meanwhile. False: an answer
    /// destroyed the book.
    [[nodiscard]] bool fail_all(LinkEvents* events, const Failure& why);

    /// The port tags of the waiting settlements.
    [[nodiscard]] std::vector<std::uint64_t> tags() const;

    [[nodiscard]] bool empty() const noexcept { return first_ == waiting_.size(); }

private:
    std::vector<Delivery*> waiting_{}; // from first_ on
    std::size_t first_{0};
    const core::Anchor<SettlementBook> anchor_{*this};
};

} // namespace sessionq::ports
