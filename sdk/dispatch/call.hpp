#pragma once

#include <cstdint>

#include "core/intrusive_list.hpp"
#include "core/mpsc_queue.hpp"

namespace sessionq::dispatch {

struct ThreadSync;
template <typename Sync>
class BasicLane;
using Lane = BasicLane<ThreadSync>;

/// What a call says when its `run` returns.
enum class Verdict : std::uint8_t {
    proceed, ///< finished; the next call of the lane may start
    hold, ///< finished; no further call of the lane starts until `Lane::release`, exactly one for
          ///< each hold
    suspended, ///< a coroutine that waits: it counts as active until `Dispatcher::finish_suspended`
};

/// One handler call of one message: an intrusive node, owned by whoever made it, queued in one lane
/// at a time.
///
/// Once started a call belongs to its `run` again: nothing here touches it after `run` returned, or
/// after `run` told anyone that it is done. It may be queued anew or destroyed at once.
class Call : public core::ListHook<Lane>, public core::MpscNode {
public:
    virtual ~Call() = default;

    /// Runs the handler, on a worker. Must not throw.
    virtual Verdict run() noexcept = 0;
};

} // namespace sessionq::dispatch
