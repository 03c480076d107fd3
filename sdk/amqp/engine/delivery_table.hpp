// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sessionq::amqp {

struct Delivery;

/// Places in a `DeliveryTable`, from the next one to be looked at. They wrap around.
struct DeliveryPlaces {
    std::uint32_t next{0};
    std::uint32_t end{0};

    [[nodiscard]] bool empty() const noexcept { return next == end; }
};

/// The unsettled deliveries of a session's one direction, in the order in which they were added.
/// That is the order of their ids where this side numbers them. A peer may number its own as it
/// likes: adding and removing cost the same then. Allocates nothing per delivery.
class DeliveryTable {
public:
    /// Gives the delivery its place.
    void add(Delivery& delivery);
    void remove(const Delivery& delivery) noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Where deliveries with the ids from `first` to `last` are: exactly, if all ids are in order.
    /// Otherwise anywhere. Deliveries added later are not among them.
    [[nodiscard]] DeliveryPlaces find_range(std::uint32_t first, std::uint32_t last) const noexcept;
    /// Takes the next place. Null: it was left meanwhile.
    [[nodiscard]] Delivery* take_next(DeliveryPlaces& places) const noexcept;

private:
    struct Entry {
        std::uint32_t place;
        std::uint32_t id;
        Delivery* delivery; ///< null: it was removed
    };
    using Entries = std::vector<Entry>;

    /// The first entry at this place or behind it.
    [[nodiscard]] Entries::const_iterator at(std::uint32_t place) const noexcept;
    [[nodiscard]] std::uint32_t place_of(Entries::const_iterator entry) const noexcept {
        return entry != entries_.end() ? entry->place : next_place_;
    }
    void drop_holes() noexcept;

    Entries entries_{};
    std::size_t first_{0}; ///< entries before it are gone
    std::size_t size_{0};
    std::uint32_t next_place_{0};
    bool is_sorted_{true};
};

} // namespace sessionq::amqp
