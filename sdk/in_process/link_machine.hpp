// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace sessionq::in_process {

/// Decides the next step of a link to the local broker: when it pulls messages, when a drain is
/// answered, when a loss or the end of a close is told. No I/O, no clock.
///
/// Messages that were removed when they were received may be held back until their removal is
/// kept. They come before the answer to a drain and before a loss. So do settlements that wait to
/// be confirmed before a loss.
class LinkMachine {
public:
    enum class Phase : std::uint8_t {
        open,    ///< the session is held
        losing,  ///< the broker has ended the session; the owner does not know
        lost,    ///< the owner knows
        closing, ///< closed by the owner; settlements wait to be confirmed
        closed,  ///< the owner knows that it is closed
    };

    struct Action {
        enum class Kind : std::uint8_t {
            none,     ///< nothing to do before the next input
            later,    ///< ask for another turn, so that thousands of links share a loop
            pull,     ///< pull up to `count` messages, then call `pulled`
            withdraw, ///< tell the broker that no work is wanted
            drained,  ///< tell the owner
            lost,     ///< tell the owner
            closed,   ///< tell the owner
        };
        Kind kind{Kind::none};
        std::uint32_t count{0};
    };

    /// At most so many messages a turn.
    static constexpr std::uint32_t messages_per_turn = 256;

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    /// Whether deliveries may be given to the owner.
    [[nodiscard]] bool delivers_held() const noexcept { return phase_ <= Phase::lost; }

    void add_credit(std::uint32_t count) noexcept;
    void drain() noexcept;
    /// The broker may have messages.
    void work() noexcept;
    void lose() noexcept;
    void close() noexcept;

    void begin_turn() noexcept;
    /// Call until it answers `none` or `later`.
    [[nodiscard]] Action next() noexcept;
    /// The pull that was asked for brought so many messages.
    void pulled(std::uint32_t count) noexcept;

    /// Messages are held back until their removal is kept.
    void hold(std::size_t count) noexcept { held_ += count; }
    /// How many of them one commit covers now; zero while a commit is under way.
    [[nodiscard]] std::size_t begin_commit() noexcept;
    /// The commit under way is done.
    void committed() noexcept;

    /// Settlements wait for the journal, or wait no more.
    void confirming() noexcept { ++unconfirmed_; }
    void confirmed() noexcept { --unconfirmed_; }

private:
    [[nodiscard]] Action next_while_open() noexcept;

    Phase phase_{Phase::open};
    std::uint32_t credit_{0};
    std::uint32_t asked_{0}; // by the last pull
    bool may_pull_{false};   // the last pull did not find the end, or there is news since
    bool may_pull_now_{false};
    bool draining_{false};
    std::size_t held_{0};
    std::size_t committing_{0};
    std::size_t unconfirmed_{0};
};

} // namespace sessionq::in_process
