// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ports/accept_book.hpp"

namespace sessionq::groups {

/// Keeps the accepts that wait for a group, oldest first. Each `GroupReceiver` has a queue, and
/// answers the oldest accept when a group is ready. A `ports::AcceptBook` answers each accept once.
///
/// A *probe* is an accept of any group that must not wait. The receiver drains its link to find out
/// whether the broker has a group. If no group is ready when the drain is answered, the probe is
/// answered with `none`.
///
/// Bound to the loop.
class AcceptQueue {
public:
    /// `none` is the answer if there is no group to give. `ended` runs if an accept ends without an
    /// answer from this queue: the accept's time ran out, or its owner gave the accept up.
    AcceptQueue(ports::AcceptBook& book, Failure none, std::function<void()> ended)
        : book_{book}, none_{std::move(none)}, ended_{std::move(ended)} {}
    ~AcceptQueue();
    AcceptQueue(const AcceptQueue&) = delete;
    AcceptQueue& operator=(const AcceptQueue&) = delete;

    /// The accept waits until it is answered.
    void add(ports::RequestId id) { add(id, Kind::waits); }
    /// The accept waits until `until` at the latest.
    void add(ports::RequestId id, Deadline until);
    /// The accept waits for the answer to the next drain.
    void add_probe(ports::RequestId id) { add(id, Kind::probes); }

    [[nodiscard]] bool empty() const noexcept { return places_.empty(); }
    [[nodiscard]] bool has_probes() const noexcept;

    /// A drain begins. The broker sends a message, or answers that it has none.
    void begin_probe();
    /// The drain is answered. Answers with `none` the probes that were in the queue when it began.
    void end_probe();

    /// Answers the accept that has waited longest.
    void answer_first(ports::SessionLinkPtr link) { answer(0, std::move(link)); }
    void fail_all(const Failure& why);

private:
    enum class Kind : std::uint8_t { waits, probes, probed };
    struct Place;

    void add(ports::RequestId id, Kind kind);
    void answer(std::size_t place, core::Result<ports::SessionLinkPtr> result);
    void leave(const Place& place);

    ports::AcceptBook& book_;
    const Failure none_;
    const std::function<void()> ended_;
    std::vector<Place*> places_{}; // the book owns them
};

} // namespace sessionq::groups
