// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/weak_handle.hpp"
#include "ports/session_link.hpp"

namespace sessionq::ports {

/// Keeps the settlements of a link that wait for the broker's answer, oldest first, so that each
/// settlement is answered once. The links of Service Bus and of message groups have a book. A link
/// adds a delivery when it sends the settlement, and takes the delivery out when the broker
/// answers. An answer may destroy the link, and the book with it.
class SettlementBook {
public:
    void add(Delivery& delivery) { waiting_.push_back(&delivery); }

    /// The broker answered. False: the settlement was answered before.
    [[nodiscard]] bool take(const Delivery& delivery);

    /// Answers every settlement with `why`, also a settlement that is added meanwhile. Returns
    /// false if an answer destroyed the book.
    [[nodiscard]] bool fail_all(LinkEvents* events, const Failure& why);

    /// The port tags of the deliveries that wait.
    [[nodiscard]] std::vector<std::uint64_t> tags() const;

    [[nodiscard]] bool empty() const noexcept { return first_ == waiting_.size(); }

private:
    std::vector<Delivery*> waiting_{}; // from first_ on
    std::size_t first_{0};
    const core::Anchor<SettlementBook> anchor_{*this};
};

} // namespace sessionq::ports
