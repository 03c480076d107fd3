// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/intrusive_list.hpp"
#include "core/mpsc_queue.hpp"

namespace sessionq::dispatch {

struct ThreadSync;
template <typename Sync>
class BasicLane;
using Lane = BasicLane<ThreadSync>;

/// The report of a call when its `run` returns.
enum class Verdict : std::uint8_t {
    proceed, ///< finished; the next call of the lane may start, unless the lane is on hold
    /// The handler is a coroutine that waits. The call counts as active until
    /// `Dispatcher::finish_suspended`.
    suspended,
};

/// One handler call for one message. An intrusive node, owned by its creator and queued in one lane
/// at a time.
///
/// Once started, a call belongs to its `run`: the dispatcher never touches it after `run` has
/// returned or has reported the end. The call may then be queued again or destroyed at once.
class Call : public core::ListHook<Lane>, public core::MpscNode {
public:
    virtual ~Call() = default;

    /// Runs the handler on a worker. Must not throw.
    virtual Verdict run() noexcept = 0;

    // The lane's
    std::size_t place{0}; ///< among the calls of its lane, as they were pushed
    bool starting{false}; ///< it was taken, and `Dispatcher::begin` is awaited
};

} // namespace sessionq::dispatch
