// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/time.hpp>

#include "amqp/condition.hpp"

namespace sessionq::detail::servicebus {

/// Learns whether a broker takes credit for a link before it has answered the attach. The standard
/// allows that (section 2.7.4, delivery-count), and the .NET client of Azure Service Bus does it. A
/// broker that cannot take it ends the link or the connection, and is given none after that. No
/// I/O, no clock.
class FirstCreditTrial {
public:
    [[nodiscard]] bool may_give() const noexcept { return answer_ != Answer::refused; }

    /// The broker granted a session to an accept that credit followed.
    void taken() noexcept { answer_ = Answer::taken; }

    /// The broker ended the link of such an accept, sent at `asked`, without an answer. True: the
    /// credit may be the reason. Ask again without credit.
    [[nodiscard]] bool ended(const amqp::Condition& why, TimePoint asked, TimePoint now) noexcept;

    /// The broker granted a session to the same accept without credit.
    void taken_without() noexcept { answer_ = Answer::refused; }

private:
    enum class Answer : std::uint8_t { unknown, taken, refused };

    /// A connection may end for other reasons, but hardly so often in a row.
    static constexpr unsigned most_losses = 2;

    Answer answer_{Answer::unknown};
    unsigned losses_{0}; ///< connections that ended before any answer
    TimePoint last_loss_{TimePoint::min()};
};

} // namespace sessionq::detail::servicebus
