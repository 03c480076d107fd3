// SPDX-License-Identifier: MIT
// Dead letters: look at them, take out the hopeless ones, and send the rest back once the cause is
// mended. A redrive may be repeated: messages that it has sent are not sent again.

#include <chrono>
#include <iostream>

#include <sessionq/sessionq.hpp>

using sessionq::ReceivedMessage;
using sessionq::SubQueue;

namespace {

/// A consumer on a bad day.
void handle_all(const sessionq::Client& client, const std::string& session, bool warehouse_is_up) {
    auto receiver = sessionq::SessionReceiver::accept(client, "orders", session);
    for (auto& order : receiver.receive(10)) {
        if (order.text().empty()) {
            order.dead_letter("Empty");
        } else if (!warehouse_is_up) {
            order.dead_letter("WarehouseDown", "no answer within a minute");
        } else {
            std::cout << session << ": " << order.text() << '\n';
            order.complete();
        }
    }
    receiver.close();
}

} // namespace

int main() {
    sessionq::LocalBroker broker;
    // Duplicate detection makes a repeated redrive safe, also after the copies were handled.
    broker.create_queue("orders", {.duplicate_detection_window = std::chrono::hours{1}});
    const auto client = sessionq::Client::in_process(broker);
    const sessionq::Sender sender{client, "orders"};
    sender.send_all({sessionq::Message::of("2 lamps").in_session("ada"),
                     sessionq::Message::of("").in_session("ada"),
                     sessionq::Message::of("1 chair").in_session("ada"),
                     sessionq::Message::of("a bed").in_session("ben")});
    handle_all(client, "ada", false);
    handle_all(client, "ben", false);

    // Looking locks nothing.
    for (const ReceivedMessage& letter :
         sessionq::Browser{client, "orders", {.sub_queue = SubQueue::dead_letter}}) {
        std::cout << "dead: " << letter.sequence_number() << " of " << letter.session_id() << ", "
                  << letter.facts().dead_letter->reason << '\n';
    }

    // The warehouse is up again. Dead letters with another reason stay dead.
    const auto report =
        sessionq::redrive(client, "orders",
                          {.filter = {.reason = "WarehouseDown"},
                           .on_progress = [](const sessionq::RedriveReport& so_far) {
                               std::cout << so_far.sent << " of " << so_far.selected
                                         << " are back\n";
                           }});
    std::cout << report.sent << " sent to " << report.sessions << " sessions\n";
    handle_all(client, "ada", true);
    handle_all(client, "ben", true);

    // The rest is for people.
    auto dead = sessionq::Receiver::open(client, "orders", {.sub_queue = SubQueue::dead_letter});
    for (auto& letter : dead.receive(10)) {
        std::cout << "thrown away: an order of " << letter.message().session_id() << '\n';
        letter.complete();
    }
    dead.close();
    return report.left == 0 ? 0 : 1;
}
