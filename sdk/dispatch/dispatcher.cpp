// SPDX-License-Identifier: MIT
#include "dispatch/dispatcher.hpp"

namespace sessionq::dispatch {

template class BasicReadyQueue<ThreadSync>;
template class BasicLane<ThreadSync>;
template class BasicDispatcher<ThreadSync>;

} // namespace sessionq::dispatch
