// SPDX-License-Identifier: MIT
#include <string_view>
#include <utility>

#include "tools/sessionq/doctor_findings.hpp"
#include "tools/sessionq/time_text.hpp"

namespace sessionq::cli {
namespace {

constexpr std::string_view dead_letter_suffix = "/$DeadLetterQueue";

Finding access_failure(std::string check, std::string found, std::string change) {
    return {.check = std::move(check),
            .verdict = Verdict::failed,
            .found = std::move(found),
            .change = std::move(change),
            .stops = true};
}

/// The peer's words, else ours.
std::string words_of(const Failure& failure) {
    const std::string& words = failure.peer_text.empty() ? failure.detail : failure.peer_text;
    return words.empty() ? failure.to_string() : words;
}

Finding no_such_entity(const std::string& entity) {
    return access_failure("entity", "the broker has no '" + entity + "'",
                          "check the spelling of the entity (a subscription is "
                          "TOPIC/subscriptions/NAME), or create it");
}

Finding no_answer(std::string check, Duration took) {
    return access_failure(std::move(check), "the broker did not answer within " + time_words(took),
                          "check that the broker is not frozen or overloaded");
}

Finding open_failure(const OpenFacts& facts) {
    const Failure& why = *facts.failure;
    if (facts.wants_tls) {
        return access_failure("SASL", facts.where + " speaks TLS, and this client does not",
                              "remove UseDevelopmentEmulator=true from the connection string, or "
                              "write amqps:// instead of amqp://");
    }
    if (facts.is_unknown) {
        return access_failure(
            "SASL", why.detail,
            "add ?dialect=artemis or ?dialect=broker-j to "
            "the URL if the broker behaves like one; Azure Service Bus and sessionqd need "
            "a connection string, Endpoint=sb://...");
    }
    if (why.code == Errc::unauthorized) {
        return access_failure(
            "SASL", "the broker rejected the login (" + facts.login + "): " + words_of(why),
            "check user and password in the URL; a broker that admits nobody "
            "without a user needs them");
    }
    if (why.code == Errc::timeout) {
        return access_failure(
            "SASL", "the port is open, and nobody answered within " + time_words(facts.took),
            "check that the broker is not frozen or overloaded, and that an "
            "AMQP broker listens on this port");
    }
    return access_failure("SASL", why.to_string(),
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

/// Whether the broker let this link pass the check of its rights.
bool has_right(const LinkFacts& link) { return !is_failure(link.failure, Errc::unauthorized); }

bool is_topic(const EntityFacts& facts) {
    return !facts.is_groups && is_failure(facts.receiving.failure, Errc::not_supported);
}

bool is_missing(const EntityFacts& facts) {
    return is_failure(facts.sending.failure, Errc::entity_not_found) ||
           is_failure(facts.receiving.failure, Errc::entity_not_found);
}

bool has_sessions(const EntityFacts& facts) {
    return !facts.is_groups && is_failure(facts.receiving.failure, Errc::session_required);
}

std::string kind_of(const EntityFacts& facts) {
    if (facts.entity.ends_with(dead_letter_suffix)) {
        return "dead-letter queue";
    }
    if (is_topic(facts)) {
        return "topic";
    }
    return facts.entity.find("/subscriptions/") != std::string::npos ||
                   facts.entity.find("/Subscriptions/") != std::string::npos
               ? "subscription"
               : "queue";
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
    if (facts.expires && *facts.expires <= facts.now) {
        return access_failure("claim", "the signature expired at " + time_text(*facts.expires),
                              "make a new one, or correct this machine's clock, which says " +
                                  time_text(facts.now));
    }
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
    return access_failure("claim",
                          "the broker rejected " + who + " for " + facts.subject + ": " +
                              words_of(*facts.failure),
                          claim_advice(facts));
}

Finding judge_rights(const EntityFacts& facts) {
    if (is_missing(facts)) {
        return no_such_entity(facts.entity);
    }
    for (const LinkFacts* link : {&facts.sending, &facts.receiving}) {
        if (is_failure(link->failure, Errc::timeout)) {
            return no_answer("rights", link->took);
        }
        if (is_failure(link->failure, Errc::connection_lost)) {
            return access_failure("rights", words_of(*link->failure), "look into the broker's log");
        }
    }
    const bool sends = has_right(facts.sending);
    const bool listens = has_right(facts.receiving);
    Finding finding{.check = "rights", .figures = {{"send", sends}, {"listen", listens}}};
    finding.found = sends && listens ? "may send and listen"
                    : listens        ? "may listen, not send"
                    : sends          ? "may send, not listen"
                                     : "may neither send nor listen";
    const bool lacks_listen = !listens && facts.purpose != DoctorPurpose::sending;
    const bool lacks_send = !sends && facts.purpose != DoctorPurpose::receiving;
    if (lacks_listen || lacks_send || (!sends && !listens)) {
        const std::string right = lacks_listen && lacks_send ? "Send and Listen"
                                  : lacks_listen             ? "Listen"
                                                             : "Send";
        finding.verdict = Verdict::failed;
        finding.change = facts.is_groups
                             ? "give the user the permission on '" + facts.entity + "'"
                             : "give the key the right " + right + ", or use a key that has it" +
                                   (lacks_listen && sends ? "; if the application only sends, say "
                                                            "--for sending"
                                                          : "");
    }
    finding.stops = !sends && !listens;
    return finding;
}

std::string why_no_sessions(const EntityFacts& facts) {
    if (facts.is_groups) {
        return "message groups come with their messages only, and have no locks";
    }
    if (has_sessions(facts)) {
        return {};
    }
    if (is_topic(facts)) {
        return "a topic has no receivers";
    }
    if (!has_right(facts.receiving)) {
        return "needs a key that may listen";
    }
    return facts.receiving.failure ? "the entity refuses receivers"
                                   : "the entity has no sessions; its messages have locks of their "
                                     "own, which show when one is received";
}

Finding judge_entity(const EntityFacts& facts) {
    if (is_missing(facts)) {
        return no_such_entity(facts.entity);
    }
    const std::string kind = kind_of(facts);
    Finding finding{.check = "entity", .figures = {{"kind", kind}}};
    finding.found = "'" + facts.entity + "' is a " + kind;
    if (is_topic(facts)) {
        if (facts.purpose != DoctorPurpose::sending) {
            finding.verdict = Verdict::failed;
            finding.change = "receive from a subscription: " + facts.entity +
                             "/subscriptions/NAME; if the application only sends, say --for "
                             "sending";
        }
        return finding;
    }
    if (facts.purpose != DoctorPurpose::receiving &&
        is_failure(facts.sending.failure, Errc::not_supported)) {
        finding.verdict = Verdict::failed;
        finding.change = "send to the queue or topic that it belongs to";
        return finding;
    }
    if (facts.is_groups) {
        finding.found += " that can have message groups";
    } else if (!has_right(facts.receiving)) {
        finding.found += "; only a key with Listen is told whether it has sessions";
    } else if (has_sessions(facts)) {
        finding.found += " with sessions";
        finding.figures["sessions"] = true;
    } else if (!facts.receiving.failure) {
        finding.found += " without sessions";
        finding.figures["sessions"] = false;
        finding.change = "use Processor or Receiver; " +
                         std::string{facts.entity.ends_with(dead_letter_suffix)
                                         ? "dead letters never have sessions"
                                         : "SessionProcessor and SessionReceiver need an entity "
                                           "that was created with sessions"};
    } else {
        finding.verdict = Verdict::failed;
        finding.found += ", which refuses receivers: " + words_of(*facts.receiving.failure);
        finding.change = "look at the state of the entity at the broker";
    }
    return finding;
}

} // namespace sessionq::cli
