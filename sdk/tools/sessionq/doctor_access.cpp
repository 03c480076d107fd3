// SPDX-License-Identifier: MIT
#include <string_view>
#include <utility>

#include "tools/sessionq/doctor_findings.hpp"
#include "tools/sessionq/time_text.hpp"

namespace sessionq::cli {
namespace {

Finding open_failure(const OpenFacts& facts) {
    const Failure& why = *facts.failure;
    if (facts.wants_tls) {
        return stopping_failure("SASL", facts.where + " speaks TLS, and this client does not",
                                "remove UseDevelopmentEmulator=true from the connection string, or "
                                "write amqps:// instead of amqp://");
    }
    if (facts.is_unknown) {
        return stopping_failure(
            "SASL", why.detail,
            "add ?dialect=artemis or ?dialect=broker-j to "
            "the URL if the broker behaves like one; Azure Service Bus and sessionqd need "
            "a connection string, Endpoint=sb://...");
    }
    if (why.code == Errc::unauthorized) {
        return stopping_failure(
            "SASL", "the broker rejected the login (" + facts.login + "): " + words_of(why),
            "check user and password in the URL; a broker that admits nobody "
            "without a user needs them");
    }
    if (why.code == Errc::timeout) {
        return stopping_failure(
            "SASL", "the port is open, and nobody answered within " + time_words(facts.took),
            "check that the broker is not frozen or overloaded, and that an "
            "AMQP broker listens on this port");
    }
    return stopping_failure("SASL", why.to_string(),
                            "check that an AMQP 1.0 broker listens on this port");
}

std::string claim_advice(const ClaimFacts& facts) {
    const std::string clock = "this machine's clock, which says " + time_text(facts.now);
    if (facts.key_name.empty()) {
        return "make a new signature for this entity, with a key that the broker has";
    }
    if (words_of(*facts.failure).find("xpired") != std::string::npos) { // it was made just now
        return "correct " + clock + ": it is behind the broker's";
    }
    return "compare SharedAccessKeyName and SharedAccessKey with the broker's; a key of one entity "
           "opens no other; " +
           clock + ", must be right too";
}

} // namespace

Finding judge(const OpenFacts& facts) {
    if (facts.failure) {
        return open_failure(facts);
    }
    return {.check = "SASL",
            .found = "logged in (" + facts.login + ") at " +
                     (facts.product.empty() ? "a broker that does not name itself"
                                            : "'" + facts.product + "'") +
                     ", in " + time_words(facts.took),
            .figures = {{"milliseconds", milliseconds_of(facts.took)}, {"product", facts.product}}};
}

Finding judge(const ClaimFacts& facts) {
    const std::string who =
        facts.key_name.empty() ? "the signature" : "the key '" + facts.key_name + "'";
    if (!facts.failure) {
        return {.check = "claim",
                .found = "the broker accepted " + who + " for " + facts.subject + ", in " +
                         time_words(facts.took),
                .figures = {{"milliseconds", milliseconds_of(facts.took)}}};
    }
    if (facts.failure->code == Errc::entity_not_found) {
        return no_such_entity(facts.entity);
    }
    if (facts.failure->code == Errc::timeout) {
        return no_answer("claim", facts.took);
    }
    if (facts.failure->code != Errc::unauthorized) {
        return stopping_failure("claim", words_of(*facts.failure), "look into the broker's log");
    }
    if (facts.expires && *facts.expires <= facts.now) {
        return stopping_failure("claim", "the signature expired at " + time_text(*facts.expires),
                                "make a new one, or correct this machine's clock, which says " +
                                    time_text(facts.now));
    }
    return stopping_failure("claim",
                            "the broker rejected " + who + " for " + facts.subject + ": " +
                                words_of(*facts.failure),
                            claim_advice(facts));
}

} // namespace sessionq::cli
