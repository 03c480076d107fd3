// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace sessionq::amqp {

/// The bytes that an engine has written. AMQP frames wait until the SASL exchange is over, and
/// nothing follows a close.
class Output {
public:
    /// `patience`: how many takes in a row must be small until the memory of a rush is released.
    Output(bool awaits_sasl, unsigned patience) noexcept
        : patience_{patience}, awaits_sasl_{awaits_sasl} {}

    /// Where the SASL exchange is written.
    [[nodiscard]] std::string& sasl() noexcept { return ready_; }
    void sasl_is_over() {
        awaits_sasl_ = false;
        ready_.append(std::exchange(held_, {}));
    }
    /// Where AMQP frames are written.
    [[nodiscard]] std::string& amqp() noexcept {
        return is_over_ ? nowhere() : awaits_sasl_ ? held_ : ready_;
    }
    /// Where frames are written that come too late to be sent.
    [[nodiscard]] std::string& nowhere() noexcept {
        discarded_.clear();
        return discarded_;
    }
    void close() noexcept { is_over_ = true; }

    [[nodiscard]] std::size_t size() const noexcept { return ready_.size(); }
    [[nodiscard]] std::size_t held() const noexcept { return ready_.size() + held_.size(); }
    /// The memory that it takes, in bytes.
    [[nodiscard]] std::size_t memory() const noexcept {
        return ready_.capacity() + held_.capacity() + discarded_.capacity();
    }
    /// Releases the memory of a rush if nothing is to be sent.
    void trim() noexcept {
        if (ready_.empty()) {
            std::string{}.swap(ready_);
        }
    }

    /// Puts the bytes that are ready into `to`, in place of the bytes that it held, and goes on
    /// with its memory.
    void take(std::string& to) {
        to.clear();
        to.swap(ready_);
        std::string{}.swap(discarded_);
        constexpr std::size_t usual = std::size_t{64} << 10U;
        const bool is_rush_over = ready_.capacity() > usual && to.size() < ready_.capacity() / 8;
        small_takes_ = is_rush_over ? small_takes_ + 1 : 0;
        if (small_takes_ == patience_) {
            small_takes_ = 0;
            std::string{}.swap(ready_);
        }
    }

private:
    const unsigned patience_;
    unsigned small_takes_{0}; // in a row, of much less than there is room for
    bool awaits_sasl_;
    bool is_over_{false};
    std::string ready_{};
    std::string held_{}; // until SASL is over
    std::string discarded_{};
};

} // namespace sessionq::amqp
