#pragma once

#include <cstdint>

#include "core/intrusive_list.hpp"
#include "core/mpsc_queue.hpp"

namespace sessionq::dispatch {

class Lane;

/// What a call says when its `run` returns.
enum class Verdict : std::uint8_t {
    proceed,   ///< finished; the next call of the lane may start
    hold,      ///< finished; no further call of the lane starts until `Lane::resume`
    suspended, ///< a coroutine that waits: it counts as active until `Dispatcher::finish`
};

/// One handler call of one message: an intrusive node, owned by whoever made it, queued in one lane at a time.
class Call : public core::ListHook<Lane>, public core::MpscNode {
public:
    virtual ~Call() = default;

    /// Runs the handler, on a worker. Must not throw.
    virtual Verdict run() noexcept = 0;

private:
    friend class Lane;
    friend class Dispatcher;

    Lane* lane_{nullptr};
};

} // namespace sessionq::dispatch
