// SPDX-License-Identifier: MIT
// The upper limit: Proton-C with its own I/O and SESSIONS receivers on one connection, which only
// accept messages.
//   proton_receiver PORT ENTITY SESSIONS MESSAGES TOKEN
// Prints the seconds from the first message to the last accepted one.
#include <proton/connection.h>
#include <proton/delivery.h>
#include <proton/link.h>
#include <proton/message.h>
#include <proton/proactor.h>
#include <proton/sasl.h>
#include <proton/session.h>
#include <proton/transport.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int credit = 200;

struct Run {
    std::string entity;
    int sessions;
    long messages;
    std::string token;
    std::string audience;

    pn_link_t* claim{nullptr};
    bool claimed{false};
    long received{0};
    Clock::time_point first{};
    std::string buffer{};
};

pn_bytes_t bytes(const std::string& text) { return pn_bytes(text.size(), text.data()); }

void ask_for_right(Run& run, pn_connection_t* connection) {
    pn_session_t* session = pn_session(connection);
    pn_session_open(session);
    pn_link_t* answers = pn_receiver(session, "cbs-answers");
    pn_terminus_set_address(pn_link_source(answers), "$cbs");
    pn_terminus_set_address(pn_link_target(answers), "cbs-answers");
    pn_link_open(answers);
    pn_link_flow(answers, 1);
    run.claim = pn_sender(session, "cbs");
    pn_terminus_set_address(pn_link_target(run.claim), "$cbs");
    pn_link_open(run.claim);
}

void put_token(Run& run) {
    pn_message_t* message = pn_message();
    pn_atom_t id{};
    id.type = PN_STRING;
    id.u.as_bytes = pn_bytes(1, "1");
    pn_message_set_id(message, id);
    pn_message_set_reply_to(message, "cbs-answers");
    pn_data_t* properties = pn_message_properties(message);
    pn_data_put_map(properties);
    pn_data_enter(properties);
    const auto put = [&](const std::string& name, const std::string& value) {
        pn_data_put_string(properties, bytes(name));
        pn_data_put_string(properties, bytes(value));
    };
    put("operation", "put-token");
    put("type", "servicebus.windows.net:sastoken");
    put("name", run.audience);
    pn_data_exit(properties);
    pn_data_put_string(pn_message_body(message), bytes(run.token));
    std::vector<char> encoded(8192);
    std::size_t size = encoded.size();
    pn_message_encode(message, encoded.data(), &size);
    pn_delivery(run.claim, pn_dtag("1", 1));
    pn_link_send(run.claim, encoded.data(), size);
    pn_link_advance(run.claim);
    pn_message_free(message);
}

void receive(Run& run, pn_connection_t* connection) {
    for (int i = 0; i < run.sessions; ++i) {
        pn_session_t* session = pn_session(connection);
        pn_session_open(session);
        pn_link_t* link = pn_receiver(session, ("r" + std::to_string(i)).c_str());
        pn_terminus_set_address(pn_link_source(link), run.entity.c_str());
        pn_data_t* filter = pn_terminus_filter(pn_link_source(link));
        pn_data_put_map(filter);
        pn_data_enter(filter);
        pn_data_put_symbol(filter, bytes("com.microsoft:session-filter"));
        pn_data_put_null(filter);
        pn_data_exit(filter);
        pn_link_open(link);
        pn_link_flow(link, credit);
    }
}

/// Returns true once all messages are received.
bool take(Run& run, pn_delivery_t* delivery, pn_connection_t* connection) {
    pn_link_t* link = pn_delivery_link(delivery);
    if (!pn_link_is_receiver(link) || !pn_delivery_readable(delivery) ||
        pn_delivery_partial(delivery)) {
        return false;
    }
    run.buffer.resize(pn_delivery_pending(delivery));
    pn_link_recv(link, run.buffer.data(), run.buffer.size());
    const bool is_answer = pn_link_session(link) == pn_link_session(run.claim);
    pn_delivery_update(delivery, PN_ACCEPTED);
    pn_delivery_settle(delivery);
    if (is_answer) {
        receive(run, connection);
        return false;
    }
    if (run.received++ == 0) {
        run.first = Clock::now();
    }
    if (pn_link_credit(link) <= credit / 2) {
        pn_link_flow(link, credit - pn_link_credit(link));
    }
    return run.received == run.messages;
}

} // namespace

int main(int count, char** arguments) {
    if (count != 6) {
        std::fputs("usage: proton_receiver PORT ENTITY SESSIONS MESSAGES TOKEN\n", stderr);
        return 2;
    }
    Run run{.entity = arguments[2],
            .sessions = std::atoi(arguments[3]),
            .messages = std::atol(arguments[4]),
            .token = arguments[5],
            .audience = "sb://127.0.0.1/" + std::string{arguments[2]}};
    pn_proactor_t* proactor = pn_proactor();
    pn_connection_t* connection = pn_connection();
    pn_connection_set_hostname(connection, "127.0.0.1");
    pn_transport_t* transport = pn_transport();
    pn_sasl_allowed_mechs(pn_sasl(transport), "ANONYMOUS");
    pn_proactor_connect2(proactor, connection, transport,
                         ("127.0.0.1:" + std::string{arguments[1]}).c_str());
    for (;;) {
        pn_event_batch_t* batch = pn_proactor_wait(proactor);
        for (pn_event_t* event = pn_event_batch_next(batch); event != nullptr;
             event = pn_event_batch_next(batch)) {
            switch (pn_event_type(event)) {
            case PN_CONNECTION_INIT:
                pn_connection_set_container(connection, "proton_receiver");
                pn_connection_open(connection);
                ask_for_right(run, connection);
                break;
            case PN_LINK_FLOW:
                if (pn_event_link(event) == run.claim && pn_link_credit(run.claim) > 0 &&
                    !std::exchange(run.claimed, true)) {
                    put_token(run);
                }
                break;
            case PN_DELIVERY:
                if (take(run, pn_event_delivery(event), connection)) {
                    std::printf("%.6f\n",
                                std::chrono::duration<double>(Clock::now() - run.first).count());
                    std::fflush(stdout);
                    std::_Exit(0);
                }
                break;
            case PN_TRANSPORT_ERROR:
            case PN_LINK_REMOTE_CLOSE:
                std::fputs("proton_receiver: the broker closed the connection or a link\n", stderr);
                std::_Exit(1);
            default: break;
            }
        }
        pn_proactor_done(proactor, batch);
    }
}
