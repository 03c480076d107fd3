// SPDX-License-Identifier: MIT
#include "faults/judge.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace sessionq::faults {
namespace {

constexpr std::size_t most_words = 20;

/// One holder's lock of a session, from open to close.
struct Tenure {
    std::uint32_t holder{0};
    std::uint32_t session{0};
    std::vector<std::int64_t> begun{}; ///< sequence numbers
    std::optional<std::int64_t> running{};
    bool has_failed{false}; ///< the last message begun
    bool is_closed{false};
    TimePoint closed_at{};
    bool is_lost{false};
};

/// A sequence number that began again, with its tenure and the one before.
struct Repeat {
    std::size_t before;
    std::size_t now;
    std::int64_t sequence;
};

/// A message that began while another holder had the session open.
struct Overlap {
    std::size_t own;
    std::size_t tenure; ///< the other holder's
    std::size_t begun;  ///< messages begun there so far
    bool was_running;
    Event event;
};

class Trial {
public:
    Trial(const std::map<std::uint32_t, Sent>& sent, const JudgeOptions& options)
        : sent_{sent}, options_{options} {}

    void see(const Event& event) {
        switch (event.kind) {
        case Event::Kind::open: open(event); break;
        case Event::Kind::begin: begin(event); break;
        case Event::Kind::done:
        case Event::Kind::failed: end(event); break;
        case Event::Kind::trouble: trouble(event); break;
        case Event::Kind::intruder:
            blame(result_.intruders, event, "was settled although its lock had ended");
            break;
        case Event::Kind::close:
            if (const auto found = current_.find({event.holder, event.session});
                found != current_.end()) {
                Tenure& tenure = tenures_[found->second];
                tenure.is_closed = true;
                tenure.closed_at = event.at;
                tenure.is_lost = tenure.is_lost || event.is_late;
                current_.erase(found);
            }
            break;
        case Event::Kind::left: left_.insert(event.holder); break;
        }
    }

    [[nodiscard]] Judgement finish() {
        for (Tenure& tenure : tenures_) {
            tenure.is_lost = tenure.is_lost || !tenure.is_closed || left_.contains(tenure.holder);
            result_.locks_lost += tenure.is_lost ? 1 : 0;
        }
        for (const Overlap& beside : overlaps_) {
            const Tenure& other = tenures_[beside.tenure];
            // the other holder began nothing after it
            const bool was_leaving = !beside.was_running && other.begun.size() == beside.begun;
            const bool is_stale = beside.own < beside.tenure && tenures_[beside.own].is_lost;
            if (!other.is_lost && !was_leaving && !is_stale) {
                blame(result_.overlaps, beside.event,
                      "began while holder " + std::to_string(other.holder) + " held the lock");
            }
        }
        for (const auto& [again, event] : again_) {
            explain(again, event);
        }
        for (const auto& [session, sent] : sent_) {
            for (std::int64_t number = 1; number <= sent.confirmed; ++number) {
                if (!done_.contains({session, number})) {
                    blame(result_.lost, {.session = session, .number = number}, "was lost");
                }
            }
        }
        result_.handled = done_.size();
        result_.leases = tenures_.size();
        return std::move(result_);
    }

private:
    using Key = std::pair<std::uint32_t, std::uint32_t>;

    [[nodiscard]] Tenure* held(const Event& event) {
        const auto found = current_.find({event.holder, event.session});
        return found == current_.end() ? nullptr : &tenures_[found->second];
    }

    void blame(std::size_t& count, const Event& event, const std::string& what) {
        ++count;
        if (result_.words.size() < most_words) {
            result_.words.push_back("s" + std::to_string(event.session) + " message " +
                                    std::to_string(event.number) + " (sequence " +
                                    std::to_string(event.sequence) + ", holder " +
                                    std::to_string(event.holder) + ") " + what);
        }
    }

    void open(const Event& event) {
        if (held(event) != nullptr) {
            blame(result_.overlaps, event, "was opened while it was open");
        }
        current_[{event.holder, event.session}] = tenures_.size();
        tenures_.push_back({.holder = event.holder, .session = event.session});
    }

    /// Errors are reported separately from handlers, and may come shortly after the session was
    /// left.
    void trouble(const Event& event) {
        constexpr std::chrono::seconds moment{2};
        if (Tenure* tenure = held(event)) {
            tenure->is_lost = true;
        }
        const auto before =
            std::find_if(tenures_.rbegin(), tenures_.rend(), [&](const Tenure& tenure) {
                return tenure.holder == event.holder && tenure.session == event.session &&
                       tenure.is_closed;
            });
        if (before != tenures_.rend() && event.at - before->closed_at < moment) {
            before->is_lost = true;
        }
    }

    void begin(const Event& event) {
        Tenure* tenure = held(event);
        if (tenure == nullptr) {
            blame(result_.overlaps, event, "began in a session that was not open");
            return;
        }
        result_.late += event.is_late ? 1 : 0;
        if (tenure->running) {
            blame(result_.overlaps, event, "began beside " + std::to_string(*tenure->running));
        }
        for (const auto& [key, index] : current_) {
            if (key.second == event.session && key.first != event.holder) {
                overlaps_.push_back({.own = current_.at({event.holder, event.session}),
                                     .tenure = index,
                                     .begun = tenures_[index].begun.size(),
                                     .was_running = tenures_[index].running.has_value(),
                                     .event = event});
            }
        }
        check_order(*tenure, event);
        tenure->running = event.sequence;
        tenure->has_failed = false;
        tenure->begun.push_back(event.sequence);
        last_tenure_[{event.session, event.sequence}] = current_.at({event.holder, event.session});
    }

    void check_order(const Tenure& tenure, const Event& event) {
        if (!tenure.begun.empty()) {
            const std::int64_t last = tenure.begun.back();
            if (tenure.has_failed ? event.sequence != last : event.sequence <= last) {
                blame(result_.out_of_order, event,
                      "came after sequence " + std::to_string(last) +
                          (tenure.has_failed ? ", which had failed" : ""));
            }
        }
        const auto before = last_tenure_.find({event.session, event.sequence});
        if (before != last_tenure_.end()) {
            const bool after_failure = failed_.erase({event.session, event.sequence}) != 0;
            result_.retries += after_failure ? 1 : 0;
            if (!after_failure) {
                again_.emplace_back(Repeat{.before = before->second,
                                           .now = current_.at({event.holder, event.session}),
                                           .sequence = event.sequence},
                                    event);
            }
            return;
        }
        std::int64_t& highest = highest_[event.session];
        if (event.number == highest + 1) {
            highest = event.number;
        } else if (event.number > highest) {
            blame(result_.out_of_order, event,
                  "came first although the last before it was " + std::to_string(highest));
            highest = event.number;
        } else { // a copy: a known message with another sequence number
            ++result_.copies;
            const auto sent = sent_.find(event.session);
            if (sent == sent_.end() || !sent->second.asked_twice.contains(event.number)) {
                blame(result_.unexplained, event, "is a copy of a message that was sent once");
            }
        }
    }

    void end(const Event& event) {
        Tenure* tenure = held(event);
        if (tenure == nullptr || tenure->running != event.sequence) {
            return; // already reported when it began
        }
        tenure->running.reset();
        if (event.kind == Event::Kind::failed) {
            tenure->has_failed = true;
            failed_.insert({event.session, event.sequence});
        } else {
            done_.insert({event.session, event.number});
        }
    }

    /// Returns true if the lock was lost while this message's settlement may have been unanswered.
    [[nodiscard]] bool lost_with(const Tenure& tenure, std::int64_t sequence) const {
        const auto window = options_.windows.find(tenure.holder);
        const std::size_t most =
            window == options_.windows.end() ? options_.window : window->second;
        const auto at = std::find(tenure.begun.rbegin(), tenure.begun.rend(), sequence);
        return tenure.is_lost && static_cast<std::size_t>(at - tenure.begun.rbegin()) < most;
    }

    /// A message was handled again. That is correct if the earlier lock was lost. It is also
    /// correct if this lock is lost, its holder does not know it yet, and the message was already
    /// fetched.
    void explain(const Repeat& again, const Event& event) {
        const bool is_stale =
            again.now < again.before && lost_with(tenures_[again.now], again.sequence);
        if (is_stale || lost_with(tenures_[again.before], again.sequence)) {
            ++result_.repeats;
            return;
        }
        const Tenure& before = tenures_[again.before];
        blame(result_.unexplained, event,
              "was handled again although holder " + std::to_string(before.holder) +
                  (before.is_lost ? " had begun too many messages after it" : " lost no lock"));
    }

    const std::map<std::uint32_t, Sent>& sent_;
    const JudgeOptions& options_;
    Judgement result_{};
    std::vector<Tenure> tenures_{};
    std::map<Key, std::size_t> current_{}; // by holder and session
    std::set<std::uint32_t> left_{};
    std::vector<Overlap> overlaps_{};
    std::vector<std::pair<Repeat, Event>> again_{};
    // by session and sequence number
    std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> last_tenure_{};
    std::set<std::pair<std::uint32_t, std::int64_t>> failed_{}; // by session and sequence number
    std::set<std::pair<std::uint32_t, std::int64_t>> done_{};   // by session and number
    std::map<std::uint32_t, std::int64_t> highest_{};
};

} // namespace

Judgement judge(std::vector<Event> events, const std::map<std::uint32_t, Sent>& sent,
                const JudgeOptions& options) {
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.at < b.at; });
    Trial trial{sent, options};
    for (const Event& event : events) {
        trial.see(event);
    }
    return trial.finish();
}

} // namespace sessionq::faults
