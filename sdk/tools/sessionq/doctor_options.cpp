// SPDX-License-Identifier: MIT
#include "tools/sessionq/declare.hpp"

namespace sessionq::cli {
namespace {

constexpr Duration shortest_doctor_timeout = std::chrono::milliseconds{100};
constexpr Duration longest_doctor_timeout = std::chrono::minutes{10};

constexpr const char* doctor_footer = R"(Doctor:
It checks name resolution, TCP connect, proxy tunnel, TLS, WebSocket, SASL, claim, rights, entity,
lock length, clock, round trip, limits and session accept. What a broker does not have is left out,
or 'skipped' with the reason. With --processor it also tells what a running processor finds wrong,
its handlers and workers included; without a connection string it tells that alone. It returns:
  0   no check failed; there may be warnings
  1   a check failed
  2   a mistake in the command line or the connection string
)";

} // namespace

void declare_doctor(CLI::App& app, CommandLine& line) {
    const auto options = std::make_shared<DoctorOptions>();
    CLI::App& command =
        declare(app, line, "doctor",
                "Finds out why a broker or an entity cannot be used. It checks one thing after "
                "the other, from the name of the host to the accept of a session, and prints a "
                "line for each: what it found, and what to change. It receives no message and "
                "changes nothing; a session that it locks it gives back at once. It stops at the "
                "first failure that makes later checks meaningless. No line shows a secret",
                options);
    command.footer(doctor_footer);
    command
        .add_option("--entity", options->entity,
                    "Queue, topic or TOPIC/subscriptions/NAME to look at (the EntityPath of the "
                    "connection string, else none). A broker that makes queues when they are used "
                    "makes this one")
        ->type_name("ENTITY");
    add_choice<DoctorPurpose>(command, "--for", options->purpose,
                              {{"receiving", DoctorPurpose::receiving},
                               {"sending", DoctorPurpose::sending},
                               {"both", DoctorPurpose::both}},
                              "What the application does, and needs a right for (receiving)");
    command
        .add_option(
            "--processor", options->processor,
            "Socket of a running processor (SessionProcessorOptions::describe_socket). It is "
            "asked at the end")
        ->type_name("SOCKET");
    add_duration(
        command, "--timeout",
        [options](Duration timeout) {
            if (timeout < shortest_doctor_timeout) {
                throw UsageError{"--timeout: must be at least 100ms"};
            }
            options->timeout = timeout;
        },
        longest_doctor_timeout, "How long each check may take, from 100ms (10s)");
}

} // namespace sessionq::cli
