// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include <sessionq/processor_options.hpp>

#include "core/byte_budget.hpp"
#include "ports/session_link.hpp"
#include "processor/credit/fetch_window.hpp"
#include "processor/session/session_settings.hpp"

namespace sessionq::detail::processor {

/// Returns the credit that goes out with an accept, so that a session costs one round trip (R4).
/// The shard calls it for each accept. `handled`: half of a session's window, as `window_half`
/// returns it.
///
/// There is no credit if on_session_open must run before any message. There is no credit with
/// receive_and_delete, because the broker deletes messages as it sends them. A session that comes
/// too late is given back, and its messages would be lost. Accepts may wait for long, so the
/// accepts of all `slots` together take at most a quarter of the budget that is left.
[[nodiscard]] inline ports::FirstCredit first_credit(const SessionProcessorOptions& options,
                                                     const SessionLimits& limits,
                                                     std::uint32_t handled, std::uint32_t slots,
                                                     bool has_open,
                                                     const core::ByteBudget& budget) noexcept {
    if (has_open || options.receive_and_delete) {
        return {};
    }
    const std::uint32_t turn = options.max_messages_per_turn;
    const std::uint32_t window = FetchWindow::least(limits.prefetch, handled);
    const std::uint32_t wanted = turn != 0 ? std::min(window, turn) : window;
    const std::uint32_t share = budget.affordable() / 4 / std::max(slots, 1U);
    return {.count = std::max(std::min(wanted, share), 1U),
            .drain = limits.idle_timeout == Duration::zero()};
}

} // namespace sessionq::detail::processor
