// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine_side.hpp"
#include "script_model.hpp"
#include "script_values.hpp"

namespace sessionq::test {

/// Operations before both sides are quiet again.
using Step = std::vector<Operation>;

/// Writes scripts of what the standard allows, as each side knows of it.
class ScriptWriter : private ScriptValues {
public:
    ScriptWriter(std::uint64_t seed, std::size_t largest, bool small_windows)
        : ScriptValues{seed}, largest_{largest}, small_windows_{small_windows} {}

    [[nodiscard]] std::vector<Step> write() {
        std::vector<Step> script(1); // the first: the connection opens
        const std::size_t count = 10 + below(50);
        while (script.size() < count) {
            Step& step = script.emplace_back();
            for (std::size_t left = 1 + below(3); left != 0; --left) {
                add_operation(step);
            }
            settle_step();
        }
        add_close(script.emplace_back());
        return script;
    }

private:
    using Kind = Operation::Kind;

    void add_operation(Step& step) {
        for (int tries = 0; tries < 20; ++tries) {
            Operation operation;
            operation.by_server = chance(2);
            const std::size_t dice = below(100);
            if (sessions_.empty() || dice < 3 ? begin(operation)
                : dice < 4                    ? end(operation)
                : dice < 14                   ? attach_too(operation) || attach(operation)
                                              : use_link(operation, dice)) {
                step.push_back(std::move(operation));
                return;
            }
        }
    }

    void add_close(Step& step) {
        for (const bool by_server : {false, true}) {
            if ((step.empty() && by_server) || chance(2)) {
                if (!has_waiting(by_server, -1)) {
                    step.push_back(
                        {.kind = Kind::close, .by_server = by_server, .condition = condition()});
                }
            }
        }
        if (step.empty()) { // only the client's messages can be all of them
            step.push_back({.kind = Kind::close, .by_server = has_waiting(false, -1)});
        }
    }

    // Proton keeps an end or close back while messages wait for credit.
    bool has_waiting(bool by_server, int session) {
        return std::ranges::any_of(links_, [&](const auto& each) {
            return each.second.waiting != 0 && each.second.server_sends() == by_server &&
                   (session < 0 || each.second.session == session);
        });
    }

    bool begin(Operation& operation) {
        if (sessions_.size() >= 3) {
            return false;
        }
        operation.session = next_session_++;
        sessions_[operation.session].knows[operation.by_server] = true;
        return true;
    }

    bool end(Operation& operation) {
        const auto chosen = std::next(sessions_.begin(), static_cast<int>(below(sessions_.size())));
        ModelSession& session = chosen->second;
        // Ours says at the end of the step what credit is given back, and nothing in a session that
        // has ended.
        const bool gives_back = std::ranges::any_of(links_, [&](const auto& each) {
            return each.second.session == chosen->first && each.second.given_back != 0;
        });
        if (gives_back || session.is_new || session.ended[operation.by_server] ||
            (session.moves && small_windows_) || has_waiting(operation.by_server, chosen->first)) {
            return false;
        }
        operation.kind = Kind::end;
        operation.session = chosen->first;
        operation.condition = condition();
        session.ended[operation.by_server] = true;
        return true;
    }

    /// Both sides attach the same link before they hear of the other: one link, and two answers.
    bool attach_too(Operation& operation) {
        for (const std::string& key : fresh_) {
            ModelLink& link = links_.at(key);
            if (link.by_server != operation.by_server && !link.is_answered &&
                may_attach(link.session, operation.by_server)) {
                operation.kind = Kind::attach;
                operation.session = link.session;
                operation.link = key;
                operation.attach = attach_to(link);
                link.is_answered = true;
                return true;
            }
        }
        return false;
    }

    amqp::Attach attach_to(const ModelLink& link) {
        amqp::Attach attach = new_attach();
        attach.sender_mode = link.sender_mode;
        attach.receiver_mode = link.receiver_mode;
        return attach;
    }

    bool may_attach(int number, bool by_server) const {
        const ModelSession& session = sessions_.at(number);
        return session.knows[by_server] && !session.ended[by_server];
    }

    bool attach(Operation& operation) {
        const auto chosen = std::next(sessions_.begin(), static_cast<int>(below(sessions_.size())));
        if (!may_attach(chosen->first, operation.by_server)) {
            return false;
        }
        const std::string key = "s" + std::to_string(chosen->first) + "-" +
                                std::to_string(below(3)) + (chance(2) ? ">" : "<");
        if (links_.contains(key)) {
            return false;
        }
        operation.kind = Kind::attach;
        operation.session = chosen->first;
        operation.link = key;
        operation.attach = new_attach();
        ModelLink& link = links_[key];
        link.key = key;
        link.session = chosen->first;
        link.by_server = operation.by_server;
        link.sender_mode = operation.attach.sender_mode;
        link.receiver_mode = operation.attach.receiver_mode;
        fresh_.insert(key);
        return true;
    }

    bool use_link(Operation& operation, std::size_t dice) {
        if (links_.empty()) {
            return false;
        }
        ModelLink& link = std::next(links_.begin(), static_cast<int>(below(links_.size())))->second;
        const bool me = operation.by_server;
        ModelSession& session = sessions_.at(link.session);
        if (session.ended[me] || link.left[me] || (me != link.by_server && is_fresh(link))) {
            return false;
        }
        operation.link = link.key;
        operation.session = link.session;
        if (me != link.by_server && !link.is_answered) {
            return answer(operation, link);
        }
        if (link.left_before[!me] || dice < 18) {
            if ((small_windows_ && session.moves) || !detach(operation, link)) {
                return false;
            }
            session.leaves = true;
            return true;
        }
        // Proton answers on the channel or handle that it has left when a message which crosses
        // that uses up the window.
        if (small_windows_ && (session.ended[!me] || session.leaves)) {
            return false;
        }
        const bool done = link.server_sends() == me ? use_sender(operation, link, dice)
                                                    : use_receiver(operation, link, dice);
        session.moves =
            session.moves ||
            (done && (operation.kind == Kind::send || operation.kind == Kind::add_credit));
        return done;
    }

    bool is_fresh(const ModelLink& link) const { return fresh_.contains(link.key); }

    bool answer(Operation& operation, ModelLink& link) {
        if (chance(5) || link.left_before[!operation.by_server]) {
            operation.kind = Kind::refuse;
            operation.condition = condition();
            link.left[operation.by_server] = true;
        } else {
            operation.kind = Kind::answer;
            operation.attach = attach_to(link);
        }
        link.is_answered = true;
        return true;
    }

    // Proton keeps a detach back while messages wait for credit.
    bool detach(Operation& operation, ModelLink& link) {
        const bool me = operation.by_server;
        if (link.server_sends() == me && link.waiting != 0 && !link.left_before[!me]) {
            return false;
        }
        operation.kind = Kind::detach;
        operation.condition = condition();
        link.left[me] = true;
        return true;
    }

    bool use_sender(Operation& operation, ModelLink& link, std::size_t dice) {
        const int left = link.credit - link.waiting - link.given_back;
        // Proton forgets to give credit back if a message waits for the window meanwhile.
        if (dice < 26 && link.drain_seen && left > 0 && !(small_windows_ && link.sends)) {
            operation.kind = Kind::drained;
            link.given_back += left;
            return true;
        }
        // Proton gives credit back at the end of the step, and sends with it before.
        if (dice < 55 && link.given_back == 0) {
            return left > 0 || (chance(8) && link.waiting < 5) ? send(operation, link) : false;
        }
        return settle(operation, link);
    }

    bool send(Operation& operation, ModelLink& link) {
        operation.kind = Kind::send;
        operation.settled = link.sender_mode == amqp::SenderSettleMode::settled ||
                            (link.sender_mode == amqp::SenderSettleMode::mixed && chance(3));
        operation.tag = std::to_string(next_tag_++);
        operation.tag.resize(std::max(operation.tag.size(), 1 + below(32)), 't');
        const std::size_t sizes[]{0, below(100), below(3000), below(largest_)};
        operation.bytes.resize(std::min(sizes[below(4)], largest_));
        for (char& byte : operation.bytes) {
            byte = static_cast<char>(below(256));
        }
        ++link.waiting;
        link.sends = true;
        link.deliveries.push_back({.tag = operation.tag,
                                   .waits = true,
                                   .settled_by_sender = operation.settled,
                                   .touched = {true, true}});
        return true;
    }

    bool use_receiver(Operation& operation, ModelLink& link, std::size_t dice) {
        if (dice < 40) {
            operation.kind = Kind::add_credit;
            operation.credit = static_cast<std::uint32_t>(1 + below(6));
            link.added += static_cast<int>(operation.credit);
            link.drain_said = false;
            return true;
        }
        if (dice < 46 && link.is_answered && !is_fresh(link) && !link.drain_asked &&
            link.credit + link.added > 0) {
            operation.kind = Kind::drain;
            link.drain_asked = link.drain_said = true;
            return true;
        }
        return settle(operation, link);
    }

    bool settle(Operation& operation, ModelLink& link) {
        const bool is_sender = link.server_sends() == operation.by_server;
        std::vector<ModelDelivery*> may;
        for (ModelDelivery& each : link.deliveries) {
            if (!each.touched[operation.by_server] && (is_sender || each.has_arrived) &&
                !(is_sender ? each.settled_by_sender : each.settled_by_receiver)) {
                may.push_back(&each);
            }
        }
        if (may.empty()) {
            return false;
        }
        ModelDelivery& chosen = *may[below(may.size())];
        chosen.touched[operation.by_server] = true;
        operation.tag = chosen.tag;
        const bool peer_settled =
            is_sender ? chosen.settled_by_receiver_before : chosen.settled_by_sender_before;
        if (!peer_settled && chosen.has_arrived && (!is_sender || chance(3))) {
            operation.outcome = outcome();
        }
        operation.kind =
            !is_sender && operation.outcome.kind != amqp::OutcomeKind::none && chance(2)
                ? Kind::update
                : Kind::settle;
        if (operation.kind == Kind::settle) {
            (is_sender ? chosen.settled_by_sender : chosen.settled_by_receiver) = true;
        }
        return true;
    }

    // What both sides know when all is quiet.
    void settle_step() {
        fresh_.clear();
        std::erase_if(sessions_, [](const auto& each) {
            return each.second.ended[0] || each.second.ended[1];
        });
        for (auto& [number, session] : sessions_) {
            session.knows = {true, true};
            session.is_new = false;
            session.moves = session.leaves = false;
        }
        std::erase_if(links_, [&](const auto& each) {
            return !sessions_.contains(each.second.session) ||
                   (each.second.left[0] && each.second.left[1]);
        });
        for (auto& [key, link] : links_) {
            link.become_quiet();
        }
    }

    const std::size_t largest_;
    const bool small_windows_;
    std::map<int, ModelSession> sessions_{};
    std::map<std::string, ModelLink> links_{};
    std::set<std::string> fresh_{}; // attached in this step
    int next_session_{0};
    std::size_t next_tag_{0};
};

} // namespace sessionq::test
