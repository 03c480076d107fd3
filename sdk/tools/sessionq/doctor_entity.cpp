// SPDX-License-Identifier: MIT
#include <string_view>
#include <utility>

#include "tools/sessionq/doctor_findings.hpp"

namespace sessionq::cli {
namespace {

constexpr std::string_view dead_letter_suffix = "/$DeadLetterQueue";

/// Whether the broker let this link pass the check of its rights.
bool has_right(const LinkFacts& link) { return !is_failure(link.failure, Errc::unauthorized); }

/// Whether the broker refuses links of this kind for another reason than a missing right.
bool refuses(const LinkFacts& link) { return link.failure && has_right(link); }

/// `advice` is for an entity that can never have such links.
Finding refusing(Finding finding, const std::string& whom, const Failure& why,
                 const std::string& advice) {
    finding.verdict = Verdict::failed;
    finding.found += ", which refuses " + whom + ": " + words_of(why);
    finding.change =
        why.code == Errc::not_supported ? advice : "look at the entity's state at the broker";
    return finding;
}

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

bool is_subscription(const EntityFacts& facts) {
    return facts.entity.find("/subscriptions/") != std::string::npos ||
           facts.entity.find("/Subscriptions/") != std::string::npos;
}

/// Whether something could be sent to an entity of such a name.
bool takes_messages(const EntityFacts& facts) {
    return !is_subscription(facts) && !facts.entity.ends_with(dead_letter_suffix);
}

std::string kind_of(const EntityFacts& facts) {
    if (facts.entity.ends_with(dead_letter_suffix)) {
        return "dead-letter queue";
    }
    if (is_subscription(facts)) {
        return "subscription";
    }
    if (is_topic(facts)) {
        return "topic";
    }
    // Both may be sent to, and only receivers see the difference.
    return facts.is_groups || has_right(facts.receiving) ? "queue" : "queue or a topic";
}

} // namespace

Finding judge_rights(const EntityFacts& facts) {
    if (is_missing(facts)) {
        return no_such_entity(facts.entity);
    }
    for (const LinkFacts* link : {&facts.sending, &facts.receiving}) {
        if (is_failure(link->failure, Errc::timeout)) {
            return no_answer("rights", link->took);
        }
        if (is_failure(link->failure, Errc::connection_lost)) {
            return stopping_failure("rights", words_of(*link->failure),
                                    "look into the broker's log");
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
    const bool lacks_send =
        !sends && takes_messages(facts) && facts.purpose != DoctorPurpose::receiving;
    if (lacks_listen || lacks_send || (!sends && !listens)) {
        const std::string right = lacks_listen && lacks_send ? "Send and Listen"
                                  : lacks_send               ? "Send"
                                                             : "Listen";
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
    Finding finding{.check = "entity",
                    .found = "'" + facts.entity + "' is a " + kind,
                    .figures = {{"kind", kind}}};
    if (facts.purpose != DoctorPurpose::receiving && refuses(facts.sending)) {
        return refusing(std::move(finding), "senders", *facts.sending.failure,
                        "send to the queue or topic that it belongs to");
    }
    if (is_topic(facts)) {
        return facts.purpose == DoctorPurpose::sending
                   ? finding
                   : refusing(std::move(finding), "receivers", *facts.receiving.failure,
                              "receive from a subscription: " + facts.entity +
                                  "/subscriptions/NAME; if the application only sends, say --for "
                                  "sending");
    }
    if (refuses(facts.receiving) && !has_sessions(facts)) {
        return refusing(std::move(finding), "receivers", *facts.receiving.failure,
                        "look at what the entity is at the broker");
    }
    if (facts.is_groups) {
        finding.found += " that can have message groups";
    } else if (!has_right(facts.receiving)) {
        finding.found += "; only a key with Listen is told more, also whether it has sessions";
    } else if (has_sessions(facts)) {
        finding.found += " with sessions";
        finding.figures["sessions"] = true;
    } else {
        finding.found += " without sessions";
        finding.figures["sessions"] = false;
        finding.change = "use Processor or Receiver; " +
                         std::string{facts.entity.ends_with(dead_letter_suffix)
                                         ? "dead letters never have sessions"
                                         : "SessionProcessor and SessionReceiver need an entity "
                                           "that was created with sessions"};
    }
    return finding;
}

} // namespace sessionq::cli
