// SPDX-License-Identifier: MIT
// Requests and replies. Each requester has a session of the reply queue to itself, so that it gets
// its own replies and no others, in order, however many requesters there are.

#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <sessionq/sessionq.hpp>

using namespace std::chrono_literals;

namespace {

/// Asks and waits for the answer, for at most ten seconds in all.
std::string ask(const sessionq::Client& client, sessionq::SessionReceiver& replies,
                const std::string& question) {
    const auto deadline = sessionq::Deadline::in(10s);
    const sessionq::OperationContext::Scope scope{sessionq::OperationContext{deadline}};
    sessionq::Message request = sessionq::Message::of(question).in_session(replies.session_id());
    request.message_id = "id of " + question; // in a real program a UUID
    request.reply_to = "replies";
    request.reply_to_session_id = replies.session_id();
    const std::string id = request.message_id;
    sessionq::Sender{client, "requests"}.send(std::move(request)); // the deadline travels with it
    while (auto reply = replies.receive_one(10s)) {
        reply->complete();
        // Another one is that of an earlier request, which came too late.
        if (reply->message().correlation_id() == id) {
            return std::string{reply->text()};
        }
    }
    return "no reply";
}

} // namespace

int main() {
    sessionq::LocalBroker broker;
    broker.create_queue("requests");
    broker.create_queue("replies");
    const auto client = sessionq::Client::in_process(broker);

    // The service answers wherever the request says.
    sessionq::SessionProcessor service{client, "requests"};
    service.on_message([&client](sessionq::MessageContext& context) {
        const auto& request = context.message();
        sessionq::Message reply =
            sessionq::Message::of("the answer to " + std::string{request.text()})
                .in_session(request.reply_to_session_id());
        reply.correlation_id = request.message_id();
        // A real service keeps a sender for each queue that requesters name.
        sessionq::Sender{client, std::string{request.reply_to()}}.send(std::move(reply));
    });
    service.start();

    std::vector<std::string> answers(3);
    std::vector<std::jthread> requesters;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        requesters.emplace_back([&client, &answer = answers[i], i] {
            // A session that nobody else uses. Nothing is in it yet, and it can be accepted.
            auto replies = sessionq::SessionReceiver::accept(client, "replies",
                                                             "requester " + std::to_string(i));
            answer = ask(client, replies, "question " + std::to_string(i));
        });
    }
    requesters.clear();
    service.stop(10s);

    bool all_answered = true;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        std::cout << answers[i] << '\n';
        all_answered = all_answered && answers[i] == "the answer to question " + std::to_string(i);
    }
    return all_answered ? 0 : 1;
}
