// SPDX-License-Identifier: MIT
#include "amqp/engine/delivery_table.hpp"

#include <algorithm>

#include "amqp/engine/delivery.hpp"

namespace sessionq::amqp {
namespace {

/// How far a serial number is behind another one; negative: before it.
std::int32_t distance(std::uint32_t from, std::uint32_t to) noexcept {
    return static_cast<std::int32_t>(to - from);
}

} // namespace

void DeliveryTable::add(Delivery& delivery) {
    if (size_ == 0) {
        is_sorted_ = true;
    } else {
        const std::uint32_t oldest = entries_[first_].id;
        is_sorted_ =
            is_sorted_ && distance(oldest, delivery.id) > distance(oldest, entries_.back().id);
    }
    delivery.place = next_place_++;
    entries_.push_back({.place = delivery.place, .id = delivery.id, .delivery = &delivery});
    ++size_;
}

void DeliveryTable::remove(const Delivery& delivery) noexcept {
    const auto index = static_cast<std::size_t>(at(delivery.place) - entries_.begin());
    entries_[index].delivery = nullptr;
    --size_;
    drop_holes();
}

/// The entries that are left begin and end with a delivery. At most half are holes, or a few.
void DeliveryTable::drop_holes() noexcept {
    constexpr std::size_t many = 256;
    if (size_ == 0) {
        first_ = 0;
        entries_.clear();
        if (entries_.capacity() > many) { // a rush is over
            Entries{}.swap(entries_);
        }
        return;
    }
    while (entries_.back().delivery == nullptr) {
        entries_.pop_back();
    }
    while (entries_[first_].delivery == nullptr) {
        ++first_;
    }
    if (entries_.size() - size_ > std::max(many, entries_.size() / 2)) {
        std::erase_if(entries_, [](const Entry& each) { return each.delivery == nullptr; });
        first_ = 0;
    }
}

DeliveryTable::Entries::const_iterator DeliveryTable::at(std::uint32_t place) const noexcept {
    const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_);
    if (begin == entries_.end() || distance(begin->place, place) <= 0) {
        return begin;
    }
    const std::size_t count = std::min<std::size_t>(place - begin->place, entries_.size() - first_);
    const auto most = begin + static_cast<std::ptrdiff_t>(count);
    if (most != entries_.end() && most->place == place) { // nothing before it was dropped
        return most;
    }
    return std::partition_point(
        begin, most, [place](const Entry& each) { return distance(each.place, place) > 0; });
}

DeliveryPlaces DeliveryTable::find_range(std::uint32_t first, std::uint32_t last) const noexcept {
    const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_);
    if (!is_sorted_ || begin == entries_.end()) {
        return {.next = place_of(begin), .end = next_place_};
    }
    // Ids are serial numbers: they wrap around.
    const std::uint32_t oldest = begin->id;
    const auto is_before_first = [&](const Entry& each) {
        return distance(oldest, each.id) < distance(oldest, first);
    };
    const auto is_in_range = [&](const Entry& each) { return each.id - first <= last - first; };
    const auto from = std::partition_point(begin, entries_.end(), is_before_first);
    const auto to = std::partition_point(from, entries_.end(), is_in_range);
    return {.next = place_of(from), .end = place_of(to)};
}

Delivery* DeliveryTable::take_next(DeliveryPlaces& places) const noexcept {
    const auto entry = at(places.next);
    const std::uint32_t found = place_of(entry);
    if (found - places.next >= places.end - places.next) {
        places.next = places.end;
        return nullptr;
    }
    places.next = found + 1;
    return entry->delivery;
}

} // namespace sessionq::amqp
