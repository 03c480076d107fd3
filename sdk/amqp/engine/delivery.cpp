// SPDX-License-Identifier: MIT
#include "amqp/engine/delivery.hpp"

#include <algorithm>

#include "amqp/engine/link.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::size_t fewest_buckets = 16;

} // namespace

void DeliveryTable::add(Delivery& delivery) {
    if (size_ == buckets_.size()) {
        rehash(std::max(fewest_buckets, size_ * 2));
    }
    Delivery*& bucket = buckets_[bucket_of(delivery.id)];
    delivery.next_in_bucket = bucket;
    bucket = &delivery;
    ++size_;
}

void DeliveryTable::remove(const Delivery& delivery) noexcept {
    Delivery** at = &buckets_[bucket_of(delivery.id)];
    while (*at != &delivery) {
        at = &(*at)->next_in_bucket;
    }
    *at = delivery.next_in_bucket;
    --size_;
    if (size_ == 0 && buckets_.size() > 1024) { // a rush is over
        std::vector<Delivery*>{}.swap(buckets_);
    }
}

Delivery* DeliveryTable::find(std::uint32_t id) const noexcept {
    if (size_ == 0) {
        return nullptr;
    }
    Delivery* at = buckets_[bucket_of(id)];
    while (at != nullptr && at->id != id) {
        at = at->next_in_bucket;
    }
    return at;
}

void DeliveryTable::find_range(std::uint32_t first, std::uint32_t last,
                               std::vector<std::uint32_t>& found) const {
    const std::uint32_t span = last - first; // ids are serial numbers: they wrap around
    if (span < size_) {
        for (std::uint32_t offset = 0; offset <= span; ++offset) {
            if (find(first + offset) != nullptr) {
                found.push_back(first + offset);
            }
        }
        return;
    }
    for (const Delivery* bucket : buckets_) {
        for (; bucket != nullptr; bucket = bucket->next_in_bucket) {
            if (bucket->id - first <= span) {
                found.push_back(bucket->id);
            }
        }
    }
    std::ranges::sort(found, {}, [first](std::uint32_t id) { return id - first; });
}

void DeliveryTable::rehash(std::size_t buckets) {
    std::vector<Delivery*> old(buckets);
    old.swap(buckets_);
    for (Delivery* each : old) {
        while (each != nullptr) {
            Delivery* const next = each->next_in_bucket;
            Delivery*& bucket = buckets_[bucket_of(each->id)];
            each->next_in_bucket = bucket;
            bucket = each;
            each = next;
        }
    }
}

Outcome DeliveryHandle::remote_outcome() const {
    return delivery_->remote_state != nullptr ? Outcome::read(*delivery_->remote_state)
                                              : Outcome{.kind = delivery_->remote_kind};
}

void DeliveryHandle::update(const Outcome& outcome) {
    delivery_->link->update(*delivery_, outcome);
}

void DeliveryHandle::settle() {
    delivery_->link->settle(*delivery_, nullptr);
    delivery_ = nullptr;
}

void DeliveryHandle::settle(const Outcome& outcome) {
    delivery_->link->settle(*delivery_, &outcome);
    delivery_ = nullptr;
}

} // namespace sessionq::amqp
