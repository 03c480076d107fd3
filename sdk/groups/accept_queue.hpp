// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ports/accept_book.hpp"

namespace sessionq::groups {

/// The accepts that wait for a group of one receiver, in order. A `ports::AcceptBook` answers each
/// once. Bound to the loop.
class AcceptQueue {
public:
    /// `none` is the answer when there is no group to give. `ended` runs when an accept has ended
    /// without an answer from here: out of time, or given up.
    AcceptQueue(ports::AcceptBook& book, Failure none, std::function<void()> ended)
        : book_{book}, none_{std::move(none)}, ended_{std::move(ended)} {}
    ~AcceptQueue();
    AcceptQueue(const AcceptQueue&) = delete;
    AcceptQueue& operator=(const AcceptQueue&) = delete;

    /// The accept waits until it is answered.
    void add(ports::RequestId id) { add(id, Kind::waits); }
    /// For at most so long.
    void add(ports::RequestId id, Deadline until);
    /// For the answer to the next probe that begins.
    void add_probe(ports::RequestId id) { add(id, Kind::probes); }

    [[nodiscard]] bool empty() const noexcept { return places_.empty(); }
    [[nodiscard]] bool has_probes() const noexcept;

    /// The broker is asked whether it has messages.
    void begin_probe();
    /// The broker had none: accepts that were there when the probe began are answered.
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
