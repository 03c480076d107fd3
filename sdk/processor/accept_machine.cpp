#include "processor/accept_machine.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sessionq::processor {

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
    const bool is_beyond =
        pending_ > free && std::any_of(rows_.begin(), rows_.end(),
                                       [free](const Row& row) { return row.pending > free; });
    surplus_at_ = is_beyond ? std::min(surplus_at_, now + linger) : TimePoint::max();
}

/// Named sessions: one accept at a time. Entities: what their share of the free slots is.
bool AcceptMachine::wants(const Row& row) const noexcept {
    if (row.pending >= free_) {
        return false;
    }
    if (targets_.named()) {
        return row.pending == 0 && row.passed_over != turn_ && tries_ < free_;
    }
    if (spreads() && row.pending >= share(row)) {
        return false;
    }
    return row.dry || tries_ < std::uint64_t{free_} * tries_a_slot_;
}

/// Of the free slots. It doubles with each session that comes, so that an entity with many ready
/// sessions gets all slots soon, and one session leaves no accepts behind for as many.
std::uint64_t AcceptMachine::share(const Row& row) const noexcept {
    const std::uint64_t even = std::max<std::uint64_t>(1, free_ / rows_.size());
    return row.dry ? even : even << row.came;
}

/// The one with the fewest accepts under way, then the one asked longest ago.
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
        best->passed_over = turn_; // another thread's
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
    } else {
        ask.kind = Ask::Kind::stands;
        standing_.push_back(ask);
    }
    row.asked = turn_;
    ++row.pending;
    ++pending_;
}

void AcceptMachine::forget(Ask& ask) noexcept {
    tries_ -= ask.kind == Ask::Kind::tries ? 1 : 0;
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
            if (rows_[each->target].pending > free_) {
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

bool AcceptMachine::granted(Ask& ask, TimePoint now) noexcept {
    Row& row = rows_[ask.target];
    if (ask.kind != Ask::Kind::stands) {
        grant_time_.add(now - ask.asked_at);
    }
    forget(ask);
    row.dry = false;
    row.came = std::min(row.came + 1, most_doublings);
    row.pace.succeeded();
    entities_[row.entity].succeeded();
    tries_a_slot_ = 1;
    if (free_ == 0) {
        hurry(now); // or the session that goes back would come again at once
        return false;
    }
    return true;
}

bool AcceptMachine::failed(Ask& ask, Errc code, TimePoint now) noexcept {
    Row& row = rows_[ask.target];
    forget(ask);
    if (code == Errc::no_session_available) {
        row.dry = true;
        row.came = 0;
    }
    const bool of_session = code == Errc::no_session_available || // others may be there
                            code == Errc::session_locked_elsewhere;
    if (code == Errc::no_session_available) { // the broker works
        entities_[row.entity].succeeded();
    }
    AcceptPace& pace = of_session ? row.pace : entities_[row.entity];
    return pace.failed(code, ask.asked_at, now, random_);
}

/// What is not answered soon stands. Then more are asked at a time, for as long as nothing comes.
void AcceptMachine::due(TimePoint now) noexcept {
    const std::uint32_t before = tries_;
    while (spreads() && !trying_.empty() &&
           now >= trying_.front()->asked_at + grant_time_.patience()) {
        Ask& ask = *trying_.pop_front();
        ask.kind = Ask::Kind::tried;
        --tries_;
        rows_[ask.target].dry = true;
        rows_[ask.target].came = 0;
        standing_.push_back(ask);
    }
    if (tries_ != before && tries_a_slot_ < rows_.size()) {
        tries_a_slot_ *= 2;
    }
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

} // namespace sessionq::processor
