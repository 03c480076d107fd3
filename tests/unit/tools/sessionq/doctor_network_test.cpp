// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/doctor_findings.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono;

namespace {

bool says(const std::string& text, std::string_view words) {
    return text.find(words) != std::string::npos;
}

void check_network_failure(const Finding& finding, std::string_view found,
                           std::string_view change) {
    CHECK(finding.verdict == Verdict::failed);
    CHECK(finding.stops);
    CHECK_MESSAGE(says(finding.found, found), finding.found);
    CHECK_MESSAGE(says(finding.change, change), finding.change);
}

const WallTime noon = WallTime{hours{24 * 365 * 56}};

TlsFacts handshake(TlsFacts::Outcome outcome) {
    return {.host = "broker.example",
            .where = "broker.example:5671",
            .outcome = outcome,
            .error = "the system's words",
            .version = "TLSv1.3",
            .subject = "CN=broker",
            .issuer = "CN=authority",
            .names = {"a.example", "b.example"},
            .valid_from = noon - hours{24},
            .valid_until = noon + hours{24 * 90},
            .now = noon,
            .took = milliseconds{3}};
}

} // namespace

TEST_CASE("doctor network: a host that is found is shown with its addresses and the time") {
    const Finding finding = judge(NameFacts{
        .host = "broker", .addresses = {"10.0.0.1", "10.0.0.2"}, .took = milliseconds{12}});
    CHECK(finding.verdict == Verdict::ok);
    CHECK(finding.found == "host 'broker' is 10.0.0.1, 10.0.0.2, in 12 ms");
    CHECK(finding.figures["milliseconds"] == 12.0);
    CHECK(judge(NameFacts{.host = "::1", .addresses = {"::1"}}).found ==
          "host '::1' is an address");
}

TEST_CASE("doctor network: a wrong host") {
    check_network_failure(judge(NameFacts{.host = "borker", .error = "Host not found"}),
                          "host 'borker' cannot be resolved: Host not found", "spelling");
    check_network_failure(judge(NameFacts{.host = "p", .is_proxy = true, .error = "no"}),
                          "proxy 'p' cannot", "spelling of the proxy");
    check_network_failure(judge(NameFacts{.host = "b", .timed_out = true, .took = seconds{10}}),
                          "no answer within 10 s", "DNS");
}

TEST_CASE("doctor network: how a connection fails decides what to change") {
    using Outcome = ConnectFacts::Outcome;
    ConnectFacts facts{.where = "broker:5671",
                       .address = "10.0.0.1:5671",
                       .error = "Network is unreachable",
                       .took = milliseconds{2}};
    CHECK(judge(facts).found == "10.0.0.1:5671, in 2 ms");
    CHECK_FALSE(judge(facts).stops);
    facts.outcome = Outcome::refused;
    check_network_failure(judge(facts), "broker:5671 refused", "the broker runs");
    facts.outcome = Outcome::timed_out;
    check_network_failure(judge(facts), "did not answer within 2 ms", "firewalls");
    facts.outcome = Outcome::failed;
    check_network_failure(judge(facts), "unreachable", "network");
    facts.is_proxy = true;
    facts.outcome = Outcome::refused;
    check_network_failure(judge(facts), "proxy broker:5671", "proxy's port");
}

TEST_CASE("doctor network: a proxy's refusal") {
    TunnelFacts facts{.proxy = "p:3128", .where = "broker:5671", .took = milliseconds{1}};
    CHECK(judge(facts).verdict == Verdict::ok);
    facts.failure = Failure{.code = Errc::unauthorized, .detail = "it answered '407'"};
    check_network_failure(judge(facts), "407", "user and password of --proxy");
    facts.failure->code = Errc::connection_refused;
    check_network_failure(judge(facts), "407", "may connect to broker:5671");
    facts.failure->code = Errc::timeout;
    check_network_failure(judge(facts), "407", "p:3128 is an HTTP proxy");
}

TEST_CASE("doctor network: a trusted certificate is a warning shortly before it ends") {
    TlsFacts facts = handshake(TlsFacts::Outcome::trusted);
    const Finding finding = judge(facts);
    CHECK(finding.verdict == Verdict::ok);
    CHECK(says(finding.found, "TLSv1.3, certificate of 'CN=broker', valid until"));
    CHECK(says(finding.found, "90 days left"));
    facts.valid_until = noon + hours{24 * 14};
    CHECK(judge(facts).verdict == Verdict::ok);
    facts.valid_until -= hours{1};
    CHECK(judge(facts).verdict == Verdict::warning);
    CHECK(says(judge(facts).change, "renew"));
    CHECK_FALSE(judge(facts).stops);
}

TEST_CASE("doctor network: what is wrong with TLS decides what to change") {
    using Outcome = TlsFacts::Outcome;
    check_network_failure(judge(handshake(Outcome::unknown_authority)), "issued by 'CN=authority'",
                          "--ca-file");
    check_network_failure(judge(handshake(Outcome::wrong_name)),
                          "for a.example, b.example, not for 'broker.example'",
                          "a name of the certificate");
    check_network_failure(judge(handshake(Outcome::expired)), "expired", "clock");
    check_network_failure(judge(handshake(Outcome::not_yet_valid)), "valid from", "clock");
    check_network_failure(judge(handshake(Outcome::untrusted)), "the system's words",
                          "another certificate");
    check_network_failure(judge(handshake(Outcome::no_tls)), "speaks no TLS",
                          "UseDevelopmentEmulator=true");
    check_network_failure(judge(handshake(Outcome::closed)), "may speak no TLS", "port");
    check_network_failure(judge(handshake(Outcome::timed_out)), "nobody answered", "frozen");
    check_network_failure(judge(handshake(Outcome::failed)), "the system's words", "TLS versions");
    TlsFacts nameless = handshake(Outcome::wrong_name);
    nameless.names.clear();
    check_network_failure(judge(nameless), "no subjectAltName", "certificate");
}

TEST_CASE("doctor network: a WebSocket that does not open") {
    WebSocketFacts facts{.where = "broker:443", .took = milliseconds{1}};
    CHECK(judge(facts).verdict == Verdict::ok);
    facts.failure = Failure{.code = Errc::connection_refused, .detail = "it answered '404'"};
    check_network_failure(judge(facts), "404", "WebSockets");
}
