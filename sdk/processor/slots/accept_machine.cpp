// SPDX-License-Identifier: MIT
#include "processor/slots/accept_machine.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sessionq::detail::processor {

AcceptMachine::AcceptMachine(TargetBook& targets, const BackoffOptions& backoff,
                             core::Random& random)
    : targets_{targets}, random_{random} {
    std::unordered_map<std::string_view, std::size_t> entities;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const auto [entity, is_new] = entities.emplace(targets[i].entity, entities_.size());
        if (is_new) {
            entities_.emplace_back(backoff);
        }
        rows_.emplace_back(backoff, entity->second);
    }
}

void AcceptMachine::need(std::uint32_t free, TimePoint now) noexcept {
    free_ = free;
    look_for_surplus(now);
}

void AcceptMachine::look_for_surplus(TimePoint now) noexcept {
    const bool is_beyond =
        pending_ > free_ && std::any_of(rows_.begin(), rows_.end(), [this](const Row& row) {
            return row.pending > most_pending(row);
        });
    surplus_at_ = is_beyond ? std::min(surplus_at_, now + linger) : TimePoint::max();
}

/// Returns the most accepts that a target may have at a time. The usual limit is the target's share
/// of the free slots. The limit is higher while none of the target's accepts has waited in vain,
/// because the target may have more ready sessions. Then the limit is the square of the number of
/// sessions that came since the target last had none. The square grows fast, so a target with many
/// ready sessions soon gets enough accepts. After a few sessions it is still small: if no more
/// sessions are ready then, only a few accepts wait in vain.
std::uint32_t AcceptMachine::most_pending(const Row& row) const noexcept {
    if (!spreads()) {
        return free_;
    }
    const auto rows = static_cast<std::uint32_t>(rows_.size());
    const std::uint32_t share = free_ / rows + (free_ % rows == 0 ? 0 : 1);
    if (row.dry || row.tries != row.pending) {
        return share;
    }
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(row.came * row.came, share, free_));
}

/// Whether to ask the target once more. A named session has one accept at a time.
bool AcceptMachine::wants(const Row& row) const noexcept {
    if (row.pending >= most_pending(row)) {
        return false;
    }
    if (targets_.named()) {
        return row.pending == 0 && row.passed_over != turn_ && tries_ < free_;
    }
    return row.dry || tries_ < std::uint64_t{free_} * tries_a_slot_;
}

/// Returns the target with the fewest accepts under way. Among equal targets, returns the target
/// that was asked longest ago.
std::optional<std::size_t> AcceptMachine::next_target(TimePoint now) noexcept {
    ++turn_;
    for (;;) {
        Row* best = nullptr;
        for (Row& row : rows_) {
            if (wants(row) && now >= may_ask_at(row) &&
                (best == nullptr ||
                 std::pair{row.pending, row.asked} < std::pair{best->pending, best->asked})) {
                best = &row;
            }
        }
        if (best == nullptr) {
            return std::nullopt;
        }
        const auto index = static_cast<std::size_t>(best - rows_.data());
        if (targets_.try_claim(index)) {
            return index;
        }
        best->passed_over = turn_; // another thread has claimed it
    }
}

void AcceptMachine::asked(Ask& ask, std::size_t target, TimePoint now,
                          TimePoint overdue_at) noexcept {
    Row& row = rows_[target];
    ask.target = target;
    ask.asked_at = now;
    ask.overdue_at = overdue_at;
    if (targets_.named() || !row.dry) {
        ask.kind = Ask::Kind::tries;
        trying_.push_back(ask);
        ++tries_;
        ++row.tries;
    } else {
        ask.kind = Ask::Kind::stands;
        standing_.push_back(ask);
    }
    row.asked = turn_;
    ++row.pending;
    ++pending_;
}

void AcceptMachine::forget(Ask& ask) noexcept {
    if (ask.kind == Ask::Kind::tries) {
        --tries_;
        --rows_[ask.target].tries;
    }
    --rows_[ask.target].pending;
    --pending_;
    Asks::remove(ask);
}

Ask* AcceptMachine::surplus(TimePoint now) noexcept {
    if (now < surplus_at_) {
        return nullptr;
    }
    for (Asks* asks : {&standing_, &trying_}) {
        for (Ask* each = asks->front(); each != nullptr; each = asks->next(*each)) {
            if (rows_[each->target].pending > most_pending(rows_[each->target])) {
                forget(*each);
                return each;
            }
        }
    }
    surplus_at_ = TimePoint::max();
    return nullptr;
}

Ask* AcceptMachine::overdue(TimePoint now) noexcept {
    for (Asks* asks : {&standing_, &trying_}) {
        Ask* const oldest = asks->front();
        if (oldest != nullptr && now >= oldest->overdue_at) {
            static_cast<void>(failed(*oldest, Errc::timeout, now));
            return oldest;
        }
    }
    return nullptr;
}

std::optional<TimePoint> AcceptMachine::asked_at(std::size_t target) const noexcept {
    std::optional<TimePoint> oldest;
    for (const Asks* asks : {&standing_, &trying_}) {
        for (const Ask* each = asks->front(); each != nullptr; each = asks->next(*each)) {
            if (each->target == target) {
                oldest = std::min(oldest.value_or(each->asked_at), each->asked_at);
                break; // the oldest is first
            }
        }
    }
    return oldest;
}

bool AcceptMachine::granted(Ask& ask, TimePoint now) noexcept {
    Row& row = rows_[ask.target];
    forget(ask);
    row.dry = false;
    row.came = std::min(row.came + 1, many);
    row.pace.succeeded();
    entities_[row.entity].succeeded();
    tries_a_slot_ = 1;
    if (free_ == 0) {
        hurry(now); // otherwise an accept would bring the returned session again at once
        return false;
    }
    return true;
}

bool AcceptMachine::failed(Ask& ask, Errc code, TimePoint now) noexcept {
    Row& row = rows_[ask.target];
    forget(ask);
    if (code == Errc::no_session_available) {
        run_dry(row);
    }
    const bool of_session = code == Errc::no_session_available || // other sessions may be there
                            code == Errc::session_locked_elsewhere;
    if (code == Errc::no_session_available) { // the broker works
        entities_[row.entity].succeeded();
    }
    AcceptPace& pace = of_session ? row.pace : entities_[row.entity];
    return pace.failed(code, ask.asked_at, now, random_);
}

/// An accept that was not answered soon is of the kind `stands` from now on. More targets are asked
/// at a time then, until a session comes.
void AcceptMachine::due(TimePoint now) noexcept {
    const std::uint32_t before = tries_;
    while (spreads() && !trying_.empty() &&
           now >= trying_.front()->asked_at + grant_time_.patience()) {
        Ask& ask = *trying_.pop_front();
        ask.kind = Ask::Kind::stands;
        --tries_;
        --rows_[ask.target].tries;
        run_dry(rows_[ask.target]);
        standing_.push_back(ask);
    }
    if (tries_ == before) {
        return;
    }
    tries_a_slot_ *= tries_a_slot_ < rows_.size() ? 2 : 1;
    look_for_surplus(now);
}

TimePoint AcceptMachine::next(TimePoint now) const noexcept {
    TimePoint at = surplus_at_;
    for (const Asks* asks : {&standing_, &trying_}) {
        if (const Ask* oldest = asks->front()) {
            at = std::min(at, oldest->overdue_at);
        }
    }
    if (spreads() && !trying_.empty()) {
        at = std::min(at, trying_.front()->asked_at + grant_time_.patience());
    }
    for (const Row& row : rows_) {
        if (may_ask_at(row) > now && wants(row)) {
            at = std::min(at, may_ask_at(row));
        }
    }
    return at;
}

} // namespace sessionq::detail::processor
