// SPDX-License-Identifier: MIT
// The upper limit: Proton-C with its own I/O and one receiver on one connection, which only accepts
// messages.
//   proton_group_receiver PORT USER PASSWORD QUEUE MESSAGES CREDIT
// Prints the seconds from the first message to the last accepted one.
#include <proton/connection.h>
#include <proton/delivery.h>
#include <proton/link.h>
#include <proton/proactor.h>
#include <proton/sasl.h>
#include <proton/session.h>
#include <proton/transport.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

struct Run {
    std::string queue;
    long messages;
    int credit;
    long received{0};
    Clock::time_point first{};
    std::string buffer{};
};

void open(const Run& run, pn_connection_t* connection) {
    pn_connection_set_container(connection, "proton_group_receiver");
    pn_connection_open(connection);
    pn_session_t* session = pn_session(connection);
    pn_session_open(session);
    pn_link_t* link = pn_receiver(session, "receiver");
    pn_terminus_set_address(pn_link_source(link), run.queue.c_str());
    pn_link_open(link);
    pn_link_flow(link, run.credit);
}

/// Returns true once all messages are received.
bool take(Run& run, pn_delivery_t* delivery) {
    pn_link_t* link = pn_delivery_link(delivery);
    if (!pn_delivery_readable(delivery) || pn_delivery_partial(delivery)) {
        return false;
    }
    run.buffer.resize(pn_delivery_pending(delivery));
    pn_link_recv(link, run.buffer.data(), run.buffer.size());
    pn_delivery_update(delivery, PN_ACCEPTED);
    pn_delivery_settle(delivery);
    if (run.received++ == 0) {
        run.first = Clock::now();
    }
    if (pn_link_credit(link) <= run.credit / 2) {
        pn_link_flow(link, run.credit - pn_link_credit(link));
    }
    return run.received == run.messages;
}

} // namespace

int main(int count, char** arguments) {
    if (count != 7) {
        std::fputs("usage: proton_group_receiver PORT USER PASSWORD QUEUE MESSAGES CREDIT\n",
                   stderr);
        return 2;
    }
    Run run{.queue = arguments[4],
            .messages = std::atol(arguments[5]),
            .credit = std::atoi(arguments[6])};
    pn_proactor_t* proactor = pn_proactor();
    pn_connection_t* connection = pn_connection();
    pn_connection_set_hostname(connection, "127.0.0.1");
    pn_connection_set_user(connection, arguments[2]);
    pn_connection_set_password(connection, arguments[3]);
    pn_transport_t* transport = pn_transport();
    pn_sasl_set_allow_insecure_mechs(pn_sasl(transport), true);
    pn_sasl_allowed_mechs(pn_sasl(transport), "PLAIN");
    pn_proactor_connect2(proactor, connection, transport,
                         ("127.0.0.1:" + std::string{arguments[1]}).c_str());
    for (;;) {
        pn_event_batch_t* batch = pn_proactor_wait(proactor);
        for (pn_event_t* event = pn_event_batch_next(batch); event != nullptr;
             event = pn_event_batch_next(batch)) {
            switch (pn_event_type(event)) {
            case PN_CONNECTION_INIT: open(run, connection); break;
            case PN_DELIVERY:
                if (take(run, pn_event_delivery(event))) {
                    std::printf("%.6f\n",
                                std::chrono::duration<double>(Clock::now() - run.first).count());
                    std::fflush(stdout);
                    std::_Exit(0);
                }
                break;
            case PN_TRANSPORT_ERROR:
            case PN_LINK_REMOTE_CLOSE:
                std::fputs("proton_group_receiver: the broker closed the connection or the link\n",
                           stderr);
                std::_Exit(1);
            default: break;
            }
        }
        pn_proactor_done(proactor, batch);
    }
}
