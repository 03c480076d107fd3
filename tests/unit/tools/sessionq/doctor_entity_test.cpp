// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/doctor_findings.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono;

namespace {

bool shows(const std::string& text, std::string_view words) {
    return text.find(words) != std::string::npos;
}

void check_entity_failure(const Finding& finding, std::string_view found, std::string_view change) {
    CHECK(finding.verdict == Verdict::failed);
    CHECK_MESSAGE(shows(finding.found, found), finding.found);
    CHECK_MESSAGE(shows(finding.change, change), finding.change);
}

LinkFacts refused_link(Errc code, std::string peer_text = {}) {
    return {.failure = Failure{.code = code, .detail = "ours", .peer_text = std::move(peer_text)},
            .took = seconds{1}};
}

const LinkFacts granted_link{.took = milliseconds{1}, .handles = 256};

/// A queue with sessions and all rights.
EntityFacts orders() {
    return {.entity = "orders",
            .sending = granted_link,
            .receiving = refused_link(Errc::session_required)};
}

} // namespace

TEST_CASE("doctor entity: the rights that are missing are those that the application needs") {
    EntityFacts facts = orders();
    CHECK(judge_rights(facts).verdict == Verdict::ok);
    CHECK(judge_rights(facts).found == "may send and listen");

    facts.sending = refused_link(Errc::unauthorized);
    CHECK(judge_rights(facts).verdict == Verdict::ok);
    CHECK(judge_rights(facts).figures["send"] == false);
    facts.purpose = DoctorPurpose::both;
    check_entity_failure(judge_rights(facts), "may listen, not send", "right Send");

    facts = orders();
    facts.receiving = refused_link(Errc::unauthorized);
    check_entity_failure(judge_rights(facts), "may send, not listen", "right Listen");
    CHECK(shows(judge_rights(facts).change, "--for sending"));
    CHECK_FALSE(judge_rights(facts).stops);
    facts.purpose = DoctorPurpose::sending;
    CHECK(judge_rights(facts).verdict == Verdict::ok);

    facts.sending = refused_link(Errc::unauthorized);
    check_entity_failure(judge_rights(facts), "neither", "right Send");
    CHECK(judge_rights(facts).stops);
    facts.is_groups = true;
    check_entity_failure(judge_rights(facts), "neither", "permission on 'orders'");

    facts = orders();
    facts.purpose = DoctorPurpose::both;
    facts.sending = facts.receiving = refused_link(Errc::unauthorized);
    for (const char* const receive_only : {"news/Subscriptions/all", "orders/$DeadLetterQueue"}) {
        facts.entity = receive_only; // nothing is ever sent there
        check_entity_failure(judge_rights(facts), "neither", "the right Listen,");
        CHECK_FALSE(shows(judge_rights(facts).change, "Send"));
    }
    facts.receiving = refused_link(Errc::session_required);
    CHECK(judge_rights(facts).verdict == Verdict::ok);
}

TEST_CASE("doctor entity: a broker that falls silent or breaks off is no question of rights") {
    EntityFacts facts = orders();
    facts.receiving = refused_link(Errc::timeout);
    check_entity_failure(judge_rights(facts), "did not answer within 1 s", "frozen");
    facts.receiving = refused_link(Errc::connection_lost, "gone");
    check_entity_failure(judge_rights(facts), "gone", "log");
    CHECK(judge_rights(facts).stops);
}

TEST_CASE("doctor entity: an entity that is not there") {
    EntityFacts facts = orders();
    facts.sending = refused_link(Errc::entity_not_found);
    for (const Finding& finding : {judge_rights(facts), judge_entity(facts)}) {
        check_entity_failure(finding, "has no 'orders'", "create it");
        CHECK(finding.check == "entity");
        CHECK(finding.stops);
    }
}

TEST_CASE("doctor entity: the kind of an entity") {
    EntityFacts facts = orders();
    CHECK(judge_entity(facts).found == "'orders' is a queue with sessions");
    CHECK(why_no_sessions(facts).empty());

    facts.receiving = granted_link;
    CHECK(judge_entity(facts).verdict == Verdict::ok);
    CHECK(judge_entity(facts).found == "'orders' is a queue without sessions");
    CHECK(shows(judge_entity(facts).change, "Receiver"));
    CHECK(shows(why_no_sessions(facts), "has no sessions"));

    facts.entity = "orders/$DeadLetterQueue";
    CHECK(shows(judge_entity(facts).found, "is a dead-letter queue without sessions"));
    CHECK(shows(judge_entity(facts).change, "dead letters never have sessions"));

    facts = orders();
    facts.entity = "orders/subscriptions/all";
    CHECK(shows(judge_entity(facts).found, "is a subscription with sessions"));
    facts.sending = refused_link(Errc::not_supported);
    CHECK(judge_entity(facts).verdict == Verdict::ok);
    facts.purpose = DoctorPurpose::both;
    check_entity_failure(judge_entity(facts), "subscription", "belongs to");

    facts = orders();
    facts.receiving = refused_link(Errc::unauthorized);
    CHECK(shows(judge_entity(facts).found, "is a queue or a topic; only a key with Listen"));
    CHECK(shows(why_no_sessions(facts), "may listen"));
    facts.entity = "orders/subscriptions/all";
    CHECK(shows(judge_entity(facts).found, "is a subscription; only a key with Listen"));
    facts.entity = "orders";

    facts.receiving = refused_link(Errc::entity_disabled, "it is disabled");
    check_entity_failure(judge_entity(facts), "it is disabled", "state");
    CHECK_FALSE(why_no_sessions(facts).empty());

    facts = orders();
    facts.sending = refused_link(Errc::entity_disabled, "sending is disabled");
    CHECK(judge_entity(facts).verdict == Verdict::ok);
    facts.purpose = DoctorPurpose::sending;
    check_entity_failure(judge_entity(facts), "refuses senders: sending is disabled", "state");
}

TEST_CASE("doctor entity: nothing is received from a topic") {
    EntityFacts facts = orders();
    facts.receiving = refused_link(Errc::not_supported);
    check_entity_failure(judge_entity(facts), "is a topic", "orders/subscriptions/NAME");
    CHECK(shows(why_no_sessions(facts), "topic"));
    facts.purpose = DoctorPurpose::sending;
    CHECK(judge_entity(facts).verdict == Verdict::ok);
}

TEST_CASE("doctor entity: message groups come without locks") {
    EntityFacts facts = orders();
    facts.is_groups = true;
    facts.receiving = granted_link;
    CHECK(shows(judge_entity(facts).found, "message groups"));
    CHECK(shows(why_no_sessions(facts), "no locks"));
    facts.receiving = refused_link(Errc::protocol_error, "not here");
    check_entity_failure(judge_entity(facts), "refuses receivers: not here", "state");
}
