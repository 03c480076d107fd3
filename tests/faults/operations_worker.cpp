// SPDX-License-Identifier: MIT
#include "faults/operations_worker.hpp"

#include <algorithm>
#include <array>

#include "faults/consumer.hpp"
#include "faults/now.hpp"

namespace sessionq::faults {
namespace {

using namespace std::chrono_literals;

constexpr Duration limit = 5s;
constexpr Duration patience = 10s;           // for forwarded and due messages
constexpr Duration longest_absence = 60s;    // of the broker
constexpr std::size_t most_at_work = 30;     // messages
constexpr std::size_t most_in_session = 150; // with dead letters, which stay

// Rounded as in the wire format.
WallTime wall_now() {
    return std::chrono::floor<std::chrono::milliseconds>(core::system_clock().wall_now());
}

// Returns true for errors of a broker that was killed, also from a connection that does not know
// yet.
bool is_broker_down(Errc code) noexcept {
    return code == Errc::connection_lost || code == Errc::connection_refused ||
           code == Errc::timeout || code == Errc::lock_lost;
}

bool is_dead(std::string_view entity) noexcept { return entity.ends_with("/$DeadLetterQueue"); }

} // namespace

OperationsWorker::OperationsWorker(std::string connection, std::string name, std::uint64_t seed,
                                   Stage& stage, Promptness& promptness)
    : name_{std::move(name)},
      session_{name_},
      stage_{stage},
      promptness_{promptness},
      random_{seed},
      connection_{std::move(connection)},
      thread_{[this] { run(); }} {}

OperationsWorker::~OperationsWorker() {
    if (thread_.joinable()) {
        thread_.join();
    }
}

void OperationsWorker::run() {
    while (!stage_.is_ending && !stage_.is_wrong) {
        const std::uint64_t life = stage_.life;
        const TimePoint began = now();
        try {
            if (!client_) {
                client_.emplace(Client::connect(
                    connection_, {.operation_timeout = limit,
                                  .reconnect_backoff = {.min = 20ms, .max = 200ms}}));
            }
            step();
            promptness_.ended("a step", 10 * limit, now() - began);
            met_life_ = life;
        } catch (const Error& error) {
            recover(error.failure());
        }
    }
    for (const TimePoint until = now() + longest_absence; !stage_.is_over && now() < until;) {
        std::this_thread::sleep_for(10ms);
    }
    if (complaints_.empty() && client_) {
        look();
    }
}

void OperationsWorker::step() {
    world_.pass(wall_now());
    if (world_.copies.size() > most_in_session) {
        look();
        world_ = {};
        session_ = name_ + "." + std::to_string(++last_message_);
    }
    const auto at_work = static_cast<std::size_t>(std::ranges::count_if(
        world_.copies, [](const auto& one) { return !is_dead(one.first.first); }));
    const std::uint64_t drawn = random_.below(100);
    if (drawn < 30 && at_work < most_at_work) {
        send();
    } else if (drawn < 40 && at_work < most_at_work) {
        schedule();
    } else if (drawn < 42) {
        cancel();
    } else if (drawn < 50) {
        remove();
    } else if (drawn < 96) {
        hold();
    } else {
        look();
    }
}

// ---- the operations

Message OperationsWorker::make_message(bool is_red) {
    Message message =
        Message::of(name_ + "-" + std::to_string(++last_message_)).in_session(session_);
    message.properties = {{"color", std::string{is_red ? "red" : "blue"}}};
    return message;
}

void OperationsWorker::send() {
    const std::string to = entity::sent_to[random_.below(std::size(entity::sent_to))];
    World after = world_;
    std::vector<Message> messages;
    for (std::uint64_t left = 1 + random_.below(4); left > 0; --left) { // all or none
        const bool is_red = chance(2);
        messages.push_back(make_message(is_red));
        after.send(to, std::string{messages.back().body}, is_red);
    }
    attempt("send", std::move(after), [&] { Sender{*client_, to}.send_all(std::move(messages)); });
}

void OperationsWorker::schedule() {
    const std::string to = entity::sent_to[random_.below(std::size(entity::sent_to))];
    const WallTime due = wall_now() + std::chrono::milliseconds{50 + random_.below(3000)};
    World after = world_;
    std::vector<Message> messages;
    std::vector<std::string> texts;
    for (std::uint64_t left = 1 + random_.below(2); left > 0; --left) {
        const bool is_red = chance(2);
        messages.push_back(make_message(is_red));
        texts.emplace_back(messages.back().body);
        after.schedule(to, texts.back(), is_red, due);
    }
    std::vector<std::int64_t> sequences;
    attempt("schedule", std::move(after), [&] {
        sequences = Sender{*client_, to}.schedule_all(std::move(messages), due);
    });
    for (std::size_t i = 0; i < texts.size(); ++i) {
        world_.copies.at({to, texts[i]}).sequence = sequences.at(i);
    }
}

void OperationsWorker::cancel() {
    const std::string from = entity::sent_to[random_.below(std::size(entity::sent_to))];
    const auto scheduled = find(from, MessageState::scheduled);
    if (scheduled.empty()) {
        return;
    }
    const World::Key key = scheduled[random_.below(scheduled.size())];
    const WallTime due = world_.copies.at(key).due;
    World after = world_;
    after.remove(key);
    try {
        attempt("cancel", std::move(after), [&] {
            Sender{*client_, from}.cancel_scheduled(sequences_of({key}));
        });
    } catch (const Error& error) {
        if (error.code() != Errc::message_not_found) {
            throw;
        }
        under_way_ = nullptr; // it has not happened
        if (wall_now() < due) {
            complain("a scheduled message cannot be cancelled: '" + key.second + "' in " + from);
        }
    }
}

// Receives messages with receive-and-delete. Messages in transit may be lost.
void OperationsWorker::remove() {
    const std::string entity =
        entity::received_from[random_.below(std::size(entity::received_from))];
    SessionReceiver receiver =
        SessionReceiver::accept(*client_, entity, session_, {.receive_and_delete = true});
    const auto active = find(entity, MessageState::active);
    may_be_gone_.insert(active.begin(), active.end());
    under_way_ = "remove";
    after_ = world_;
    for (const SessionMessage& message : receiver.receive(1 + random_.below(4), 0s)) {
        world_.pass(wall_now());
        check_received(entity, message.message(), MessageState::active);
        world_.remove({entity, std::string{message.text()}});
        after_ = world_;
    }
    receiver.close();
    ++counts_["remove"].confirmed;
    ++stage_.confirmed;
    under_way_ = nullptr;
    look(); // these are gone
}

void OperationsWorker::hold() {
    const std::string entity =
        entity::received_from[random_.below(std::size(entity::received_from))];
    std::vector<SessionMessage> in_hand;
    SessionReceiver receiver = SessionReceiver::accept(*client_, entity, session_);
    for (std::uint64_t left = 1 + random_.below(8); left > 0; --left) {
        use(receiver, entity, in_hand);
    }
    receiver.close(); // releases the messages it holds, uncounted
}

void OperationsWorker::use(SessionReceiver& receiver, const std::string& entity,
                           std::vector<SessionMessage>& in_hand) {
    world_.pass(wall_now());
    const std::uint64_t drawn = random_.below(10);
    if (drawn < 3 || (drawn < 7 && in_hand.empty())) {
        take(receiver, entity, in_hand);
    } else if (drawn < 7) {
        settle(in_hand.front(), entity);
        in_hand.erase(in_hand.begin());
    } else if (drawn < 8) {
        take_deferred(receiver, entity, in_hand);
    } else {
        use_state(receiver, entity);
    }
}

void OperationsWorker::take(SessionReceiver& receiver, const std::string& entity,
                            std::vector<SessionMessage>& in_hand) {
    std::int64_t before = 0;
    for (SessionMessage& message : receiver.receive(1 + random_.below(4), 0s)) {
        world_.pass(wall_now());
        check_received(entity, message.message(), MessageState::active);
        if (message.sequence_number() <= before) {
            complain("out of order: '" + std::string{message.text()} + "' in " + entity);
        }
        before = message.sequence_number();
        in_hand.push_back(std::move(message));
    }
    ++counts_["receive"].confirmed;
}

void OperationsWorker::take_deferred(SessionReceiver& receiver, const std::string& entity,
                                     std::vector<SessionMessage>& in_hand) {
    auto deferred = find(entity, MessageState::deferred);
    std::erase_if(deferred, [&](const World::Key& key) {
        return std::ranges::find(in_hand, key.second, &SessionMessage::text) != in_hand.end();
    });
    if (deferred.empty()) {
        return;
    }
    const World::Key key = deferred[random_.below(deferred.size())];
    for (SessionMessage& message : receiver.receive_deferred(sequences_of({key}))) {
        check_received(entity, message.message(), MessageState::deferred);
        in_hand.push_back(std::move(message));
    }
    ++counts_["receive deferred"].confirmed;
}

void OperationsWorker::check_received(const std::string& entity, const ReceivedMessage& message,
                                      MessageState place) {
    const std::string text{message.text()};
    const auto found = world_.copies.find({entity, text});
    if (found == world_.copies.end()) {
        complain("'" + text + "' arrived in " + entity + ", where it must not be");
        throw Error{Errc::cancelled, "the session's state is unknown after a complaint"};
    }
    if (found->second.place != place || found->second.count != message.delivery_count()) {
        complain("'" + text + "' arrived in " + entity + " in a wrong state, delivered " +
                 std::to_string(message.delivery_count()) + " times instead of " +
                 std::to_string(found->second.count));
    }
    found->second.sequence = message.sequence_number();
}

void OperationsWorker::settle(SessionMessage& message, const std::string& entity) {
    const World::Key key{entity, std::string{message.text()}};
    World after = world_;
    switch (random_.below(6)) {
    case 0:
    case 1:
        after.remove(key);
        attempt("complete", std::move(after), [&] { message.complete(); });
        break;
    case 2:
        after.abandon(key);
        attempt("abandon", std::move(after), [&] { message.abandon(); });
        break;
    case 3:
        after.defer(key);
        attempt("defer", std::move(after), [&] { message.defer(); });
        break;
    case 4:
        after.dead_letter(key, "why");
        attempt("dead-letter", std::move(after), [&] { message.dead_letter("why", "because"); });
        break;
    default:
        // the dialect has no other state for it
        if (world_.copies.at(key).place == MessageState::deferred) {
            after.abandon(key);
        }
        attempt("release", std::move(after), [&] { message.release(); });
    }
}

void OperationsWorker::use_state(SessionReceiver& receiver, const std::string& entity) {
    if (chance(3)) {
        const auto kept = world_.states.find(entity);
        if (receiver.state().value_or("none") !=
            (kept == world_.states.end() ? "none" : kept->second)) {
            complain("the state in " + entity + " is not the one that was set");
        }
        return;
    }
    const auto state = chance(4) ? std::nullopt : std::optional{std::to_string(++last_message_)};
    World after = world_;
    after.set_state(entity, state);
    attempt("set state", std::move(after), [&] { receiver.set_state(state); });
}

// ---- the result

template <typename Call>
void OperationsWorker::attempt(const char* what, World after, Call call) {
    under_way_ = what;
    after_ = std::move(after);
    call();
    world_ = std::move(after_);
    under_way_ = nullptr;
    ++counts_[what].confirmed;
    ++stage_.confirmed;
}

void OperationsWorker::recover(const Failure& why) {
    promptness_.note("an operation", why);
    if (!complaints_.empty()) {
        return;
    }
    if (!is_broker_down(why.code)) {
        complain(why.to_string());
        return;
    }
    for (const TimePoint until = now() + longest_absence;
         stage_.life == met_life_ || stage_.life % 2 != 0;) {
        if (now() > until) {
            complain("the broker did not come back");
            return;
        }
        std::this_thread::sleep_for(10ms);
    }
    const std::uint64_t life = stage_.life;
    if (client_) {
        look();
        met_life_ = life;
    }
}

// Repeats until everything is as expected, because messages may still be forwarded and the broker
// may be killed again.
void OperationsWorker::look() {
    ++looks_;
    std::string difference;
    for (TimePoint until = now() + patience; now() < until;) {
        const std::uint64_t life = stage_.life;
        try {
            const Observation seen = observe();
            if (const auto impossible = find_impossible(world_, seen)) {
                complain(*impossible);
                return;
            }
            auto found = find_difference(world_, seen, may_be_gone_);
            if (!found) {
                if (under_way_ != nullptr) {
                    ++counts_[under_way_].did_not;
                }
                adopt(world_, seen);
                return;
            }
            difference = *found;
            if (under_way_ != nullptr) {
                found = find_difference(after_, seen, may_be_gone_);
                if (!found) {
                    ++counts_[under_way_].happened;
                    adopt(after_, seen);
                    return;
                }
                difference += ", or, if '" + std::string{under_way_} + "' happened, " + *found;
            }
        } catch (const Error& error) {
            if (!is_broker_down(error.failure().code)) {
                complain("checking: " + error.failure().to_string());
                return;
            }
        }
        if (stage_.life != life || stage_.life % 2 != 0) {
            until = now() + patience;
        }
        std::this_thread::sleep_for(20ms);
    }
    complain(difference.empty() ? "checking failed without a difference" : difference);
}

Observation OperationsWorker::observe() {
    Observation seen{.began = wall_now()};
    const auto peek = [&](const std::string& entity) {
        for (const ReceivedMessage& message : Browser{*client_, entity, {.session_id = session_}}) {
            const auto& dead = message.facts().dead_letter;
            seen.messages.push_back({.entity = entity,
                                     .text = std::string{message.text()},
                                     .place = message.facts().state,
                                     .count = message.delivery_count(),
                                     .sequence = message.sequence_number(),
                                     .reason = dead ? dead->reason : std::string{}});
        }
    };
    // In the direction in which messages are forwarded: one that moves meanwhile is seen, perhaps
    // twice. In the other direction it could be missed, and would then count as cancelled.
    for (const char* entity : {entity::inbox, entity::news, entity::onward}) {
        peek(entity);
        if (entity != entity::news) {
            peek(dead_letters_of(entity));
        }
    }
    for (const char* entity : entity::received_from) {
        peek(entity);
        peek(dead_letters_of(entity));
        SessionReceiver receiver = SessionReceiver::accept(*client_, entity, session_);
        if (auto state = receiver.state()) {
            seen.states.emplace(entity, *std::move(state));
        }
        receiver.close();
    }
    seen.ended = wall_now();
    return seen;
}

void OperationsWorker::adopt(World world, const Observation& seen) {
    world.pass(seen.began);
    std::set<World::Key> there;
    for (const Observation::Seen& one : seen.messages) {
        there.insert({one.entity, one.text});
        world.copies.at({one.entity, one.text}).sequence = one.sequence;
    }
    for (const World::Key& key : may_be_gone_) {
        if (!there.contains(key)) {
            world.remove(key);
        }
    }
    may_be_gone_.clear();
    under_way_ = nullptr;
    world_ = std::move(world);
}

std::vector<std::int64_t> OperationsWorker::sequences_of(
    const std::vector<World::Key>& keys) const {
    std::vector<std::int64_t> sequences;
    for (const World::Key& key : keys) {
        sequences.push_back(world_.copies.at(key).sequence);
    }
    return sequences;
}

std::vector<World::Key> OperationsWorker::find(const std::string& entity,
                                               MessageState place) const {
    std::vector<World::Key> found;
    for (const auto& [key, copy] : world_.copies) {
        if (key.first == entity && copy.place == place) {
            found.push_back(key);
        }
    }
    return found;
}

void OperationsWorker::complain(std::string what) {
    complaints_.push_back(session_ + ": " + std::move(what));
    stage_.is_wrong = true;
}

} // namespace sessionq::faults
