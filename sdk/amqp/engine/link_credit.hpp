// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "amqp/engine/composite_writer.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {

/// The fields of a flow that speak of a link's credit.
inline void write_credit(CompositeWriter& writer, std::optional<std::uint32_t> delivery_count,
                         std::uint32_t credit, bool drain) {
    if (delivery_count) {
        writer.number(flow_field::delivery_count, *delivery_count);
    }
    writer.number(flow_field::link_credit, credit);
    writer.number(flow_field::available, 0);
    writer.boolean(flow_field::drain, drain);
}

/// Flow control of a link's sender (AMQP 1.0 part 2, section 2.6.7).
class SenderCredit {
public:
    /// A flow has come. In the receiver's view `delivery_count` deliveries have begun, and `credit`
    /// more may.
    void granted(std::uint32_t delivery_count, std::uint32_t credit, bool drain) noexcept {
        const std::uint32_t unseen = count_ - delivery_count; // begun meanwhile
        credit_ = unseen < credit ? credit - unseen : 0;
        is_draining_ = owes_drained_ = drain;
    }
    void sent() noexcept {
        ++count_;
        --credit_;
    }
    /// Answers a drain: gives back all but `kept`. False: it was answered before.
    [[nodiscard]] bool give_back(std::uint32_t kept) noexcept {
        if (!std::exchange(owes_drained_, false)) {
            return false;
        }
        const std::uint32_t given = credit_ - (kept < credit_ ? kept : credit_);
        count_ += given;
        credit_ -= given;
        return true;
    }

    [[nodiscard]] std::uint32_t left() const noexcept { return credit_; }
    [[nodiscard]] bool is_draining() const noexcept { return is_draining_; }

    /// The fields of a flow.
    void write(CompositeWriter& writer) const {
        write_credit(writer, count_, credit_, is_draining_);
    }

private:
    std::uint32_t count_{0};
    std::uint32_t credit_{0};
    bool is_draining_{false};
    bool owes_drained_{false};
};

/// Flow control of a link's receiver.
class ReceiverCredit {
public:
    /// The sender's attach says from where it counts its deliveries.
    void counts_from(std::uint32_t delivery_count) noexcept {
        count_ = delivery_count;
        is_count_known_ = true;
    }
    /// Takes back a drain.
    void add(std::uint32_t credit) noexcept {
        credit_ += credit;
        asks_for_drain_ = false;
    }
    void ask_for_drain() noexcept { is_draining_ = asks_for_drain_ = true; }

    /// A delivery begins. False: there was no credit for it.
    [[nodiscard]] bool begun() noexcept {
        if (credit_ == 0) {
            return false;
        }
        ++count_;
        --credit_;
        return true;
    }
    /// The sender's flow: it has counted so far, with the credit that it gave back.
    void advanced(std::uint32_t delivery_count) noexcept {
        const std::uint32_t skipped = delivery_count - count_;
        if (skipped <= credit_) { // otherwise it counts deliveries that have not come yet
            credit_ -= skipped;
            count_ = delivery_count;
        }
    }
    /// Once: the drain that was asked for is over.
    [[nodiscard]] bool take_drained() noexcept {
        if (!is_draining_ || credit_ != 0) {
            return false;
        }
        is_draining_ = asks_for_drain_ = false;
        return true;
    }

    [[nodiscard]] std::uint32_t left() const noexcept { return credit_; }
    [[nodiscard]] bool is_draining() const noexcept { return is_draining_; }

    /// The fields of a flow. The receiver does not know the count before the sender's attach.
    void write(CompositeWriter& writer) const {
        write_credit(writer, is_count_known_ ? std::optional{count_} : std::nullopt, credit_,
                     asks_for_drain_);
    }

private:
    std::uint32_t count_{0};
    std::uint32_t credit_{0};
    bool is_count_known_{false};
    bool is_draining_{false};
    bool asks_for_drain_{false};
};

} // namespace sessionq::amqp
