// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ports/endpoint.hpp"

namespace sessionq::test {

/// The broker's side of a link: what it was asked for, and what the test lets it answer.
class ScriptedLink {
public:
    ScriptedLink(std::string id, std::optional<Duration> lock) : id_{std::move(id)}, lock_{lock} {}

    // What the test does. Only at the top level, never from within a call of the link.
    /// It was delivered once before.
    void redeliver(const std::string& text) { deliver(text, {}, 1); }
    /// A holder of the session that had it was lost.
    void deliver_after_loss(const std::string& text) { deliver(text, {}, 0, true); }
    void deliver(const std::string& text, Deadline deadline = {}, std::uint32_t delivery_count = 0,
                 bool holder_lost = false) {
        Message content = Message::of(text).in_session(id_);
        content.deadline = deadline;
        content.properties = properties;
        ports::DeliveryPtr delivery = events->new_delivery();
        delivery->message = ReceivedMessage{std::make_shared<DecodedContent>(std::move(content)),
                                            {.sequence_number = ++sequence_,
                                             .delivery_count = delivery_count,
                                             .deadline = deadline}};
        delivery->bytes = 100;
        delivery->holder_lost = holder_lost;
        delivery->settled_by_sender = removes;
        delivery->port_tag = static_cast<std::uint64_t>(sequence_);
        delivery->lock = own_lock;
        credit -= credit != 0 ? 1 : 0;
        events->on_delivery(std::move(delivery));
    }
    bool answer_drain() {
        if (!draining || !alive) {
            return false;
        }
        draining = false;
        credit = 0;
        events->on_drained();
        return true;
    }
    bool answer_settlement(const Failure* failure = nullptr) {
        if (unsettled.empty() || !alive) {
            return false;
        }
        ports::Delivery& delivery = *unsettled.front();
        unsettled.pop_front();
        events->on_settled(delivery, failure);
        return true;
    }
    bool answer_close() {
        if (!close || !alive) {
            return false;
        }
        std::exchange(close, nullptr)(core::Done{});
        return true;
    }
    bool answer_renewal(core::Result<ports::LockGrant> answer) {
        if (renewals.empty() || !alive) {
            return false;
        }
        const auto handler = std::move(renewals.front());
        renewals.pop_front();
        handler(std::move(answer));
        return true;
    }
    bool answer_state() {
        if (!alive || (readers.empty() && writers.empty())) {
            return false;
        }
        if (!readers.empty()) {
            const auto handler = std::move(readers.front());
            readers.pop_front();
            note("state read");
            handler(state);
            return true;
        }
        const auto handler = std::move(writers.front());
        writers.pop_front();
        note(state ? "state written" : "state cleared");
        handler(core::Done{});
        return true;
    }
    /// Answers the oldest request for deferred messages.
    bool answer_deferred(std::initializer_list<const char*> texts) {
        if (!alive || deferred_askers.empty()) {
            return false;
        }
        std::vector<ports::DeliveryPtr> deliveries;
        for (const char* text : texts) {
            deliveries.push_back(events->new_delivery());
            deliveries.back()->message =
                ReceivedMessage{std::make_shared<DecodedContent>(Message::of(text).in_session(id_)),
                                {.sequence_number = ++sequence_}};
            deliveries.back()->port_tag = static_cast<std::uint64_t>(sequence_);
            deliveries.back()->lock = own_lock;
        }
        const auto handler = std::move(deferred_askers.front());
        deferred_askers.pop_front();
        handler(std::move(deliveries));
        return true;
    }
    void lose(Errc code = Errc::connection_lost) {
        const Failure reason{.code = code, .detail = "scripted"};
        while (answer_settlement(&reason)) {
        }
        if (alive) {
            events->on_lost(reason);
        }
    }

    void note(const std::string& what) { log.append(log.empty() ? "" : ", ").append(what); }
    [[nodiscard]] std::string take_log() { return std::exchange(log, {}); }
    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] std::optional<Duration> lock() const noexcept { return lock_; }

    Properties properties{}; ///< of messages delivered from now on
    bool removes{false};     ///< receive-and-delete
    /// Each message is locked on its own, and `own_locks` renews it.
    std::optional<Duration> own_lock{};
    ports::MessageLocks* own_locks{nullptr};
    bool answers{true}; ///< what is asked of it is answered in the bench's next round
    std::function<void()> at_close{[] {}}; ///< from within the call
    bool alive{true};
    bool draining{false};
    std::uint32_t credit{0};
    ports::LinkEvents* events{nullptr};
    std::deque<ports::Delivery*> unsettled{};
    std::deque<ports::SessionLink::LockHandler> renewals{};
    std::deque<ports::SessionLink::StateHandler> readers{}; ///< who waits for the session's state
    std::deque<ports::SessionLink::DoneHandler> writers{};  ///< who waits for it to be changed
    std::optional<std::string> state{};                     ///< as it was set last
    std::deque<ports::SessionLink::DeliveriesHandler> deferred_askers{};
    bool answers_state{false}; ///< like `answers`
    ports::SessionLink::DoneHandler close{};
    std::string log{}; ///< what was asked, credit apart

private:
    std::string id_;
    std::optional<Duration> lock_;
    std::int64_t sequence_{0};
};

using ScriptedLinkPtr = std::shared_ptr<ScriptedLink>;

/// The link as the processor has it.
class LinkToScript final : public ports::SessionLink {
public:
    explicit LinkToScript(ScriptedLinkPtr script) : script_{std::move(script)} {}
    ~LinkToScript() override {
        script_->alive = false;
        script_->readers.clear();
        script_->writers.clear();
        script_->deferred_askers.clear();
    }

    [[nodiscard]] const std::string& session_id() const noexcept override { return script_->id(); }
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept override {
        return {.length = script_->lock()};
    }
    ports::FirstCredit set_events(ports::LinkEvents& events) override {
        script_->events = &events;
        return {};
    }
    void add_credit(std::uint32_t count) override {
        if (script_->draining || script_->close) {
            script_->note("credit against the contract");
        }
        script_->credit += count;
    }
    void drain() override {
        script_->note(script_->draining ? "drain against the contract" : "drain");
        script_->draining = true;
    }
    void settle(ports::Delivery& delivery, ports::Settlement&& settlement) override {
        std::string reason =
            settlement.dead_letter.reason.empty() ? "" : " (" + settlement.dead_letter.reason + ")";
        script_->note(std::string{to_string(settlement.outcome)} + " " +
                      std::string{delivery.message.text()} + reason);
        script_->unsettled.push_back(&delivery);
    }
    ports::RequestId renew_lock(Deadline /*deadline*/, LockHandler handler) override {
        script_->note("renew");
        script_->renewals.push_back(std::move(handler));
        return ++last_request_;
    }
    [[nodiscard]] ports::MessageLocks* message_locks() noexcept override {
        return script_->own_locks;
    }
    ports::RequestId get_state(Deadline /*deadline*/, StateHandler handler) override {
        script_->readers.push_back(std::move(handler));
        return ++last_request_;
    }
    ports::RequestId set_state(std::optional<std::string> state, Deadline /*deadline*/,
                               DoneHandler handler) override {
        script_->state = std::move(state);
        script_->writers.push_back(std::move(handler));
        return ++last_request_;
    }
    ports::RequestId receive_deferred(std::vector<std::int64_t> numbers, Deadline /*deadline*/,
                                      DeliveriesHandler handler) override {
        script_->note("ask for " + std::to_string(numbers.size()));
        script_->deferred_askers.push_back(std::move(handler));
        return ++last_request_;
    }
    void give_up(ports::RequestId id) override { script_->note("give up " + std::to_string(id)); }
    void close(DoneHandler handler) override {
        script_->note("close");
        script_->close = std::move(handler);
        script_->at_close();
    }

private:
    ScriptedLinkPtr script_;
    ports::RequestId last_request_{0};
};

/// An endpoint whose accepts the test answers.
class ScriptedEndpoint final : public ports::Endpoint {
public:
    struct Accept {
        ports::RequestId id;
        ports::AcceptRequest request;
        ports::AcceptHandler handler;
        bool cancelled{false};
    };

    explicit ScriptedEndpoint(core::EventLoop& loop) : loop_{loop} {}

    [[nodiscard]] core::EventLoop& loop() noexcept override { return loop_; }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept override { return can; }
    ports::RequestId accept(ports::AcceptRequest request, ports::AcceptHandler handler) override {
        accepts.push_back(
            {.id = ++last_, .request = std::move(request), .handler = std::move(handler)});
        return last_;
    }
    [[nodiscard]] std::optional<ports::ReadySessions> ready_sessions(
        const std::string& /*entity*/) override {
        return ready ? std::optional{ready()} : std::nullopt;
    }
    void give_up(ports::RequestId id) override {
        for (Accept& each : accepts) {
            each.cancelled = each.cancelled || each.id == id;
        }
    }
    ports::RequestId sending_limit(std::string /*entity*/, Deadline /*deadline*/,
                                   ports::SendingLimitHandler handler) override {
        handler(ports::SendingLimit{});
        return 0;
    }
    ports::RequestId send(ports::SendRequest /*request*/, ports::SendHandler handler) override {
        handler(std::vector<std::int64_t>{});
        return 0;
    }
    ports::RequestId cancel_scheduled(std::string /*entity*/, std::vector<std::int64_t> /*numbers*/,
                                      Deadline /*deadline*/, ports::DoneHandler handler) override {
        handler(core::Done{});
        return 0;
    }
    ports::RequestId peek(ports::PeekRequest /*request*/, ports::PeekHandler handler) override {
        handler(std::vector<ReceivedMessage>{});
        return 0;
    }
    ports::RequestId list_sessions(ports::ListSessionsRequest /*request*/,
                                   ports::ListSessionsHandler handler) override {
        handler(std::vector<std::string>{});
        return 0;
    }
    ports::RequestId delete_messages(ports::DeleteMessagesRequest /*request*/,
                                     ports::DeletedHandler handler) override {
        handler(ports::DeletedMessages{});
        return 0;
    }
    ports::RequestId manage_rules(ports::RulesRequest /*request*/,
                                  ports::RulesHandler handler) override {
        handler(std::vector<Rule>{});
        return 0;
    }

    /// Answers the oldest accept.
    void answer(core::Result<ports::SessionLinkPtr> answer) {
        const Accept oldest = std::move(accepts.front());
        accepts.pop_front();
        oldest.handler(std::move(answer));
    }
    void refuse(Errc code) { answer(Failure{.code = code, .detail = "scripted"}); }

    std::deque<Accept> accepts{};
    std::function<ports::ReadySessions()> ready{}; ///< empty: it does not tell
    ports::Capabilities can{"scripted",
                            {ports::Capability::accept_named, ports::Capability::accept_next,
                             ports::Capability::lock_renewal, ports::Capability::dead_letter,
                             ports::Capability::defer, ports::Capability::receive_and_delete,
                             ports::Capability::session_state, ports::Capability::plain_entities,
                             ports::Capability::message_lock_renewal}};
    [[nodiscard]] ports::RequestId asked() const noexcept { return last_; } ///< accepts so far

private:
    core::EventLoop& loop_;
    ports::RequestId last_{0};
};

} // namespace sessionq::test
