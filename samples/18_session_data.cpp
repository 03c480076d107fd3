// SPDX-License-Identifier: MIT
// An object of the application for each session: made when the session is opened, given to its
// handlers, and destroyed when the session is closed. Here it is a running total, loaded from the
// session's state and stored there at the end, so that no handler waits for the broker.

#include <iostream>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <sessionq/sessionq.hpp>

namespace {

/// Objects of the sessions that a processor holds. A session is opened before its first handler and
/// closed after its last, so an object needs a lock of its own only if several handlers of one
/// session may run at once (`max_concurrent_calls_per_session`).
template <typename Data>
class SessionData {
public:
    Data& open(const std::string& session, Data data) {
        const std::lock_guard lock{mutex_};
        auto& kept = data_[session];
        kept = std::make_unique<Data>(std::move(data));
        return *kept;
    }
    Data& of(const std::string& session) {
        const std::lock_guard lock{mutex_};
        return *data_.at(session);
    }
    std::unique_ptr<Data> close(const std::string& session) {
        const std::lock_guard lock{mutex_};
        auto node = data_.extract(session);
        return std::move(node.mapped());
    }

private:
    std::mutex mutex_{};
    std::unordered_map<std::string, std::unique_ptr<Data>> data_{};
};

struct Account {
    long total{0};
};

} // namespace

int main() {
    sessionq::LocalBroker broker;
    broker.create_queue("payments");
    const auto client = sessionq::Client::in_process(broker);
    sessionq::Sender sender{client, "payments"};
    for (const char* amount : {"10", "20", "30"}) {
        sender.send(sessionq::Message::of(amount).in_session("ada"));
        sender.send(sessionq::Message::of(amount).in_session("ben"));
    }

    SessionData<Account> accounts;
    std::latch closed{2};
    sessionq::SessionProcessor payments{
        client, "payments", {.session_idle_timeout = std::chrono::milliseconds{100}}};
    payments.on_session_open([&](sessionq::SessionContext& session) {
        const auto stored = session.state();
        accounts.open(session.session_id(), {.total = stored ? std::stol(*stored) : 0});
    });
    payments.on_message([&](sessionq::MessageContext& context) {
        accounts.of(context.session().session_id()).total +=
            std::stol(std::string{context.message().text()});
    });
    payments.on_session_close([&](sessionq::SessionContext& session, sessionq::CloseReason reason) {
        const auto account = accounts.close(session.session_id());
        // Without the lock the state belongs to the next holder. The state then lacks the messages
        // that were completed since it was stored, and so it does after a crash. Where that
        // matters, store it with each message.
        if (reason != sessionq::CloseReason::lock_lost &&
            reason != sessionq::CloseReason::connection_lost) {
            session.set_state(std::to_string(account->total));
        }
        closed.count_down();
    });
    payments.start();
    closed.wait();
    payments.stop(std::chrono::seconds{10});

    for (const char* customer : {"ada", "ben"}) {
        auto receiver = sessionq::SessionReceiver::accept(client, "payments", customer);
        std::cout << customer << " has paid " << receiver.state().value_or("nothing") << '\n';
    }
}
