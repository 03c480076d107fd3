// SPDX-License-Identifier: MIT
#include <utility>

#include "tools/sessionq/doctor_findings.hpp"
#include "tools/sessionq/time_text.hpp"

namespace sessionq::cli {
namespace {

constexpr Duration certificate_ends_soon = std::chrono::hours{24 * 14};

std::string listed(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) {
        list += (list.empty() ? "" : ", ") + text;
    }
    return list;
}

std::string certificate_text(const TlsFacts& facts) {
    return "certificate of '" + facts.subject + "', valid until " + time_text(facts.valid_until);
}

Finding tls_failure(const TlsFacts& facts, std::string found, std::string change) {
    return stopping_failure("TLS", facts.where + ": " + std::move(found), std::move(change));
}

Finding trusted_tls(const TlsFacts& facts) {
    const auto left = std::chrono::duration_cast<Duration>(facts.valid_until - facts.now);
    Finding finding{.check = "TLS",
                    .found = facts.version + ", " + certificate_text(facts) + " (" +
                             time_words(left) + " left), in " + time_words(facts.took),
                    .figures = {{"milliseconds", milliseconds_of(facts.took)},
                                {"version", facts.version},
                                {"subject", facts.subject},
                                {"valid_until", time_text(facts.valid_until)}}};
    if (left < certificate_ends_soon) {
        finding.verdict = Verdict::warning;
        finding.change = "renew the broker's certificate soon";
    }
    return finding;
}

} // namespace

Finding judge(const NameFacts& facts) {
    const char* const check = "name resolution";
    const std::string what = (facts.is_proxy ? "proxy '" : "host '") + facts.host + "'";
    if (facts.timed_out) {
        return stopping_failure(check, what + ": no answer within " + time_words(facts.took),
                                "check that this machine reaches its DNS server");
    }
    if (facts.addresses.empty()) {
        return stopping_failure(check, what + " cannot be resolved: " + facts.error,
                                facts.is_proxy
                                    ? "check the spelling of the proxy, and this machine's DNS"
                                    : "check the spelling of the host in the connection string, "
                                      "and this machine's DNS");
    }
    const bool is_address = facts.addresses.front() == facts.host;
    return {
        .check = check,
        .found = is_address
                     ? what + " is an address"
                     : what + " is " + listed(facts.addresses) + ", in " + time_words(facts.took),
        .figures = {{"milliseconds", milliseconds_of(facts.took)}, {"addresses", facts.addresses}}};
}

Finding judge(const ConnectFacts& facts) {
    const char* const check = "TCP connect";
    const std::string what = (facts.is_proxy ? "proxy " : "") + facts.where;
    switch (facts.outcome) {
    case ConnectFacts::Outcome::connected: break;
    case ConnectFacts::Outcome::refused:
        return stopping_failure(check, what + " refused the connection",
                                facts.is_proxy ? "check the proxy's port, and that it runs"
                                               : "check the port, and that the broker runs and "
                                                 "listens there");
    case ConnectFacts::Outcome::timed_out:
        return stopping_failure(check, what + " did not answer within " + time_words(facts.took),
                                "check the host, and that firewalls let this port through; if only "
                                "HTTPS gets out, use TransportType=AmqpWebSockets (port 443) or "
                                "--proxy");
    case ConnectFacts::Outcome::failed:
        return stopping_failure(check, what + ": " + facts.error,
                                "check the host and this machine's network");
    }
    return {.check = check,
            .found =
                (facts.is_proxy ? "proxy " : "") + facts.address + ", in " + time_words(facts.took),
            .figures = {{"milliseconds", milliseconds_of(facts.took)}, {"address", facts.address}}};
}

Finding judge(const TunnelFacts& facts) {
    const char* const check = "proxy tunnel";
    if (!facts.failure) {
        return {.check = check,
                .found = "to " + facts.where + ", in " + time_words(facts.took),
                .figures = {{"milliseconds", milliseconds_of(facts.took)}}};
    }
    std::string change = "check that the proxy may connect to " + facts.where;
    if (facts.failure->code == Errc::unauthorized) {
        change = "check user and password of --proxy";
    } else if (facts.failure->code == Errc::timeout) {
        change = "check that " + facts.proxy + " is an HTTP proxy";
    }
    return stopping_failure(check, facts.failure->to_string(), std::move(change));
}

Finding judge(const TlsFacts& facts) {
    using Outcome = TlsFacts::Outcome;
    const char* const no_tls_change =
        "check the port (5671 and 443 are for TLS, 5672 and 80 are not); for a broker without "
        "TLS add UseDevelopmentEmulator=true, or write amqp:// instead of amqps://";
    switch (facts.outcome) {
    case Outcome::trusted: break;
    case Outcome::unknown_authority:
        return tls_failure(facts,
                           certificate_text(facts) + " was issued by '" + facts.issuer +
                               "', which this machine does not trust: " + facts.error,
                           "give the issuer's certificate with --ca-file "
                           "(TlsOptions::ca_file), or install it on this machine");
    case Outcome::wrong_name:
        return tls_failure(
            facts,
            "the certificate is for " +
                (facts.names.empty() ? "no name (it has no subjectAltName)" : listed(facts.names)) +
                ", not for '" + facts.host + "'",
            "use a name of the certificate in the connection string, or give the broker a "
            "certificate for this name");
    case Outcome::expired:
        return tls_failure(facts, certificate_text(facts) + ", expired",
                           "renew the broker's certificate, or correct this machine's clock, which "
                           "says " +
                               time_text(facts.now));
    case Outcome::not_yet_valid:
        return tls_failure(facts, "the certificate is valid from " + time_text(facts.valid_from),
                           "correct this machine's clock, which says " + time_text(facts.now));
    case Outcome::untrusted:
        return tls_failure(facts, certificate_text(facts) + ": " + facts.error,
                           "give the broker another certificate");
    case Outcome::no_tls: return tls_failure(facts, "the peer speaks no TLS", no_tls_change);
    case Outcome::closed:
        return tls_failure(facts,
                           "the peer closed the connection in the handshake; it may speak no TLS",
                           no_tls_change);
    case Outcome::timed_out:
        return tls_failure(facts,
                           "the port is open, and nobody answered the handshake within " +
                               time_words(facts.took),
                           "check that the broker is not frozen or overloaded, and that the port "
                           "is one for TLS");
    case Outcome::failed:
        return tls_failure(facts, "the handshake failed: " + facts.error,
                           "check which TLS versions and certificates the broker wants");
    }
    return trusted_tls(facts);
}

Finding judge(const WebSocketFacts& facts) {
    const char* const check = "WebSocket";
    if (facts.failure) {
        return stopping_failure(check, facts.failure->to_string(),
                                "check that the port is one for AMQP over WebSockets, and that no "
                                "proxy on the way blocks them");
    }
    return {.check = check,
            .found = facts.where + " speaks AMQP over WebSockets, in " + time_words(facts.took),
            .figures = {{"milliseconds", milliseconds_of(facts.took)}}};
}

} // namespace sessionq::cli
