// SPDX-License-Identifier: MIT
#include "amqp/admission.hpp"

#include <utility>

namespace sessionq::amqp {

Admission::Answer Admission::enter(Guest& guest, std::string_view address) {
    guest.admission_ = this;
    if (guests_ >= limits_.connections) {
        dismiss(guest);
        return Answer::too_many;
    }
    auto place = addresses_.find(address);
    if (place == addresses_.end()) {
        place = addresses_.emplace(address, Counts{}).first;
    }
    Counts& counts = place->second;
    if (counts.guests >= limits_.connections_per_address) {
        dismiss(guest);
        return Answer::too_many_from_address;
    }
    Guest* gives_way = nullptr;
    if (counts.newcomers >= limits_.newcomers_per_address) {
        gives_way = oldest_of(place);
    } else if (newcomers_ >= limits_.newcomers) {
        gives_way = oldest_of_most();
    }
    guest.address_ = place;
    guest.was_welcome_ = true;
    guest.is_newcomer_ = true;
    waiting_.push_back(guest);
    ++counts.guests;
    ++counts.newcomers;
    ++guests_;
    ++newcomers_;
    if (gives_way != nullptr) {
        dismiss(*gives_way);
        gives_way->give_way();
    }
    return Answer::welcome;
}

void Admission::step(Guest& guest) noexcept {
    if (guest.is_newcomer_) {
        waiting_.remove(guest);
        waiting_.push_back(guest);
    }
}

void Admission::trust(Guest& guest) noexcept {
    if (guest.is_newcomer_) {
        guest.is_newcomer_ = false;
        waiting_.remove(guest);
        --newcomers_;
        --guest.address_->second.newcomers;
    }
}

// It counts as a guest until it is gone.
void Admission::dismiss(Guest& guest) noexcept {
    trust(guest);
    if (guest.admission_ != nullptr && !std::exchange(guest.is_leaving_, true)) {
        ++leaving_;
    }
}

Admission::Guest* Admission::oldest_of(Addresses::iterator address) const noexcept {
    Guest* guest = waiting_.front();
    while (guest != nullptr && guest->address_ != address) {
        guest = waiting_.next(*guest);
    }
    return guest;
}

// Who floods the server displaces itself, and not a client that has one newcomer.
Admission::Guest* Admission::oldest_of_most() const noexcept {
    Guest* found = waiting_.front();
    std::size_t most = 0;
    for (Guest* guest = found; guest != nullptr; guest = waiting_.next(*guest)) {
        const std::size_t newcomers = guest->address_->second.newcomers;
        if (newcomers > most) {
            most = newcomers;
            found = guest;
        }
    }
    return found;
}

void Admission::remove(Guest& guest) noexcept {
    trust(guest);
    guest.admission_ = nullptr;
    leaving_ -= guest.is_leaving_ ? 1 : 0;
    if (!guest.was_welcome_) {
        return;
    }
    --guests_;
    if (--guest.address_->second.guests == 0) {
        addresses_.erase(guest.address_);
    }
}

} // namespace sessionq::amqp
