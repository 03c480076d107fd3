#pragma once

#include <cstdint>

#include <sessionq/time.hpp>

#include "amqp/condition.hpp"

namespace sessionq::servicebus {

/// Learns whether a broker takes credit for a link whose attach it has not answered yet. The
/// standard allows it (section 2.6.7), and the clients of Azure Service Bus do it. A broker that
/// cannot ends the link or the connection. It is given such credit no more. No I/O, no clock.
class FirstCreditTrial {
public:
    [[nodiscard]] bool may_give() const noexcept { return answer_ != Answer::refused; }

    /// It granted a session to an accept that credit followed.
    void taken() noexcept { answer_ = Answer::taken; }

    /// It ended the link of such an accept, which was sent at `asked`, before any answer. True: the
    /// credit may be why. Ask again without, and tell `taken_without` if it answers that.
    [[nodiscard]] bool ended(const amqp::Condition& why, TimePoint asked, TimePoint now) noexcept;

    /// It granted a session to the same accept without credit.
    void taken_without() noexcept { answer_ = Answer::refused; }

private:
    enum class Answer : std::uint8_t { unknown, taken, refused };

    /// A connection may end for other reasons, but hardly so often in a row.
    static constexpr unsigned most_losses = 2;

    Answer answer_{Answer::unknown};
    unsigned losses_{0}; ///< connections that ended before any answer
    TimePoint last_loss_{TimePoint::min()};
};

} // namespace sessionq::servicebus
