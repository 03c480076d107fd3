#include "processor/message_book.hpp"

#include <algorithm>

namespace sessionq::processor {
namespace {

void join(BookEffects& all, const BookEffects& more) noexcept {
    all.gone = all.gone || more.gone;
    all.turn_over = all.turn_over || more.turn_over;
    all.rewinds = all.rewinds || more.rewinds;
    all.dead_letters = all.dead_letters || more.dead_letters;
    all.began_settling = all.began_settling || more.began_settling;
    all.parks_until = std::max(all.parks_until, more.parks_until);
}

} // namespace

BookEffects MessageBook::arrived(MessageMachine& message, MessageMachine::Arrival arrival,
                                 std::size_t bytes, bool removed, const BookStance& stance,
                                 TimePoint now, SessionActions& out) {
    credit_.arrived(bytes);
    idle_.begin(); // R2: arrival disarms
    return follow(message, message.arrived(arrival, bytes, removed), stance, now, out);
}

BookEffects MessageBook::decided(MessageMachine& message, ports::Outcome outcome, bool strict,
                                 const BookStance& stance, TimePoint now, SessionActions& out) {
    return follow(message, message.decided(outcome, stance.usable, strict), stance, now, out);
}

BookEffects MessageBook::ended(MessageMachine& message, const MessageEnd& end,
                               const BookStance& stance, TimePoint now, SessionActions& out) {
    holds_ += end.holds_lane ? 1 : 0;
    Circumstances session{.usable = stance.usable,
                          .may_wait = !stance.leaving,
                          .expired = terms_.options.expired_message};
    if (end.ending == Ending::failed) {
        session.failure = decide_failure(terms_.options.failure_policy, message.attempt(),
                                         session.may_wait, terms_.random);
    }
    return follow(message, message.ended(end, session, now), stance, now, out);
}

BookEffects MessageBook::taken_back(MessageMachine& message, std::optional<Verdict> verdict,
                                    const BookStance& stance, TimePoint now, SessionActions& out) {
    return follow(message, message.taken_back(verdict), stance, now, out);
}

BookEffects MessageBook::answered(MessageMachine& message, bool success, const BookStance& stance,
                                  TimePoint now, SessionActions& out) {
    return follow(message, message.answered(success), stance, now, out);
}

template <typename Input>
BookEffects MessageBook::each_of(Messages& messages, Input input, const BookStance& stance,
                                 TimePoint now, SessionActions& out) {
    BookEffects effects;
    Messages all;
    all.splice_back(messages);
    while (MessageMachine* message = all.pop_front()) {
        join(effects, follow(*message, input(*message), stance, now, out));
    }
    return effects;
}

BookEffects MessageBook::let_back(const BookStance& stance, TimePoint now, SessionActions& out) {
    const auto back = [&stance](MessageMachine& message) {
        return message.let_back(stance.usable);
    };
    BookEffects effects = each_of(failed_, back, stance, now, out);
    join(effects, each_of(retrying_, back, stance, now, out));
    return effects;
}

BookEffects MessageBook::retries_due(const BookStance& stance, TimePoint now, SessionActions& out) {
    const auto retry = [now](MessageMachine& message) {
        return message.retry_at() > now ? MessageActions{} : message.retry_due();
    };
    return each_of(retrying_, retry, stance, now, out);
}

BookEffects MessageBook::drop_link(const BookStance& stance, TimePoint now, SessionActions& out) {
    out.push_back({.kind = Kind::drop_link});
    const auto drop = [](MessageMachine& message) { return message.link_gone(); };
    BookEffects effects = each_of(settling_, drop, stance, now, out);
    join(effects, each_of(settling_early_, drop, stance, now, out));
    return effects;
}

BookEffects MessageBook::follow(MessageMachine& message, const MessageActions& actions,
                                const BookStance& stance, TimePoint now, SessionActions& out) {
    using Next = MessageActions::Next;
    BookEffects effects;
    const bool was_settling = is_settling();
    place(message);
    if (actions.counts) {
        effects.turn_over = ++handled_ == terms_.options.max_messages_per_turn;
    }
    if (actions.releases && message.take_hold() && !stance.keeps_holds) {
        release(1, out);
    }
    switch (actions.next) {
    case Next::nothing:
    case Next::retry: break;
    case Next::enqueue: out.push_back({.kind = Kind::enqueue, .message = &message}); break;
    case Next::put_first: put_first(message, stance, out); break;
    case Next::send_session: effects.dead_letters = true; [[fallthrough]];
    case Next::send:
        effects.began_settling = !was_settling;
        out.push_back({.kind = Kind::settle, .verdict = actions.verdict, .message = &message});
        break;
    case Next::park: effects.parks_until = message.retry_at(); break;
    case Next::rewind: effects.rewinds = true; break;
    case Next::dispose:
        effects.gone = true;
        credit_.left(message.size());
        idle_.end(now);
        out.push_back({.kind = Kind::dispose, .message = &message});
        break;
    }
    return effects;
}

/// Into the list of its phase.
void MessageBook::place(MessageMachine& message) noexcept {
    using In = MessageMachine::Phase;
    Messages::remove(message);
    switch (message.phase()) {
    case In::in_lane:
    case In::settled_early: in_lane_.push_back(message); break;
    case In::settling_early: settling_early_.push_back(message); break;
    case In::retrying: retrying_.push_back(message); break;
    case In::failed: failed_.push_back(message); break;
    case In::settling: settling_.push_back(message); break;
    case In::received:
    case In::gone: break;
    }
}

void MessageBook::put_first(MessageMachine& message, const BookStance& stance,
                            SessionActions& out) {
    const bool held = message.take_hold();
    if (!held) {
        out.push_back({.kind = Kind::pause_lane});
    }
    out.push_back({.kind = Kind::put_first, .message = &message});
    if (held) {
        release(1, out);
    } else if (!stance.parked) {
        out.push_back({.kind = Kind::resume_lane});
    }
}

void MessageBook::release(std::uint32_t count, SessionActions& out) {
    if (count != 0) {
        holds_ -= count;
        out.push_back({.kind = Kind::release_lane, .count = count});
    }
}

TimePoint MessageBook::retry_at() const noexcept {
    TimePoint at = TimePoint::max();
    for (const MessageMachine* each = retrying_.front(); each != nullptr;
         each = retrying_.next(*each)) {
        at = std::min(at, each->retry_at());
    }
    return at;
}

std::uint32_t MessageBook::in_lane() const noexcept {
    std::uint32_t count = 0;
    for (const Messages* messages : {&in_lane_, &settling_early_}) {
        for (const MessageMachine* each = messages->front(); each != nullptr;
             each = messages->next(*each)) {
            ++count;
        }
    }
    return count;
}

std::uint32_t MessageBook::turn_window(std::uint32_t window, std::uint32_t used) const noexcept {
    const std::uint32_t most = terms_.options.max_messages_per_turn;
    if (most == 0) {
        return window;
    }
    return std::min(window, std::max(used, most > handled_ ? most - handled_ : 0));
}

} // namespace sessionq::processor
