// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/doctor_findings.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono;

namespace {

bool tells(const std::string& text, std::string_view words) {
    return text.find(words) != std::string::npos;
}

void check_access_failure(const Finding& finding, std::string_view found, std::string_view change) {
    CHECK(finding.verdict == Verdict::failed);
    CHECK_MESSAGE(tells(finding.found, found), finding.found);
    CHECK_MESSAGE(tells(finding.change, change), finding.change);
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

ClaimFacts claim_of(std::optional<Failure> failure) {
    return {.subject = "'orders'",
            .entity = "orders",
            .key_name = "app",
            .failure = std::move(failure),
            .took = milliseconds{2}};
}

} // namespace

TEST_CASE("doctor access: an opened connection names the broker") {
    OpenFacts facts{
        .where = "b:5672", .login = "user 'u'", .took = milliseconds{2}, .product = "broker 2.3"};
    CHECK(judge(facts).found == "logged in (user 'u') at 'broker 2.3', in 2 ms");
    facts.product.clear();
    CHECK(tells(judge(facts).found, "does not name itself"));
}

TEST_CASE("doctor access: why a connection does not open decides what to change") {
    OpenFacts facts{.where = "b:5671", .login = "anonymous", .took = seconds{10}};
    facts.failure = Failure{.code = Errc::connection_refused, .detail = "it closed"};
    check_access_failure(judge(facts), "it closed", "AMQP 1.0");
    facts.wants_tls = true;
    check_access_failure(judge(facts), "speaks TLS, and this client does not", "amqps://");
    facts.wants_tls = false;
    facts.failure->code = Errc::timeout;
    check_access_failure(judge(facts), "nobody answered within 10 s", "frozen");
    facts.failure->code = Errc::unauthorized;
    check_access_failure(judge(facts), "rejected the login (anonymous)", "user and password");
    facts.is_unknown = true;
    check_access_failure(judge(facts), "it closed", "?dialect=artemis");
    CHECK(judge(facts).stops);
}

TEST_CASE("doctor access: a wrong key, a wrong entity, and a broker that does not answer") {
    CHECK(judge(claim_of({})).found == "the broker accepted the key 'app' for 'orders', in 2 ms");
    const Failure wrong{.code = Errc::unauthorized, .peer_text = "bad signature"};
    check_access_failure(judge(claim_of(wrong)),
                         "rejected the key 'app' for 'orders': bad signature", "SharedAccessKey");
    check_access_failure(judge(claim_of(Failure{.code = Errc::entity_not_found})),
                         "has no 'orders'", "spelling");
    check_access_failure(judge(claim_of(Failure{.code = Errc::timeout})), "did not answer",
                         "frozen");
    CHECK(judge(claim_of(wrong)).stops);
}

TEST_CASE("doctor access: a token that is expired when it is made shows a wrong clock") {
    const Failure expired{.code = Errc::unauthorized, .peer_text = "ExpiredToken: it is expired"};
    ClaimFacts facts = claim_of(expired);
    facts.now = WallTime{hours{24 * 365 * 56}};
    check_access_failure(judge(facts), "ExpiredToken", "clock, which says 2025-12-");
    CHECK(tells(judge(facts).change, "behind the broker's"));
}

TEST_CASE("doctor access: an expired signature is told by its own time") {
    ClaimFacts facts = claim_of({});
    facts.key_name.clear();
    facts.now = WallTime{hours{24 * 365 * 56}};
    facts.expires = facts.now + seconds{1};
    CHECK(judge(facts).verdict == Verdict::ok);
    facts.expires = facts.now;
    check_access_failure(judge(facts), "the signature expired at", "clock");
    facts.expires.reset();
    facts.failure = Failure{.code = Errc::unauthorized};
    check_access_failure(judge(facts), "the signature", "new signature");
}

TEST_CASE("doctor access: the rights that are missing are those that the application needs") {
    EntityFacts facts = orders();
    CHECK(judge_rights(facts).verdict == Verdict::ok);
    CHECK(judge_rights(facts).found == "may send and listen");

    facts.sending = refused_link(Errc::unauthorized);
    CHECK(judge_rights(facts).verdict == Verdict::ok);
    CHECK(judge_rights(facts).figures["send"] == false);
    facts.purpose = DoctorPurpose::both;
    check_access_failure(judge_rights(facts), "may listen, not send", "right Send");

    facts = orders();
    facts.receiving = refused_link(Errc::unauthorized);
    check_access_failure(judge_rights(facts), "may send, not listen", "right Listen");
    CHECK(tells(judge_rights(facts).change, "--for sending"));
    CHECK_FALSE(judge_rights(facts).stops);
    facts.purpose = DoctorPurpose::sending;
    CHECK(judge_rights(facts).verdict == Verdict::ok);

    facts.sending = refused_link(Errc::unauthorized);
    check_access_failure(judge_rights(facts), "neither", "right Send");
    CHECK(judge_rights(facts).stops);
    facts.is_groups = true;
    check_access_failure(judge_rights(facts), "neither", "permission on 'orders'");
}

TEST_CASE("doctor access: a broker that falls silent or breaks off is no question of rights") {
    EntityFacts facts = orders();
    facts.receiving = refused_link(Errc::timeout);
    check_access_failure(judge_rights(facts), "did not answer within 1 s", "frozen");
    facts.receiving = refused_link(Errc::connection_lost, "gone");
    check_access_failure(judge_rights(facts), "gone", "log");
    CHECK(judge_rights(facts).stops);
}

TEST_CASE("doctor access: an entity that is not there") {
    EntityFacts facts = orders();
    facts.sending = refused_link(Errc::entity_not_found);
    for (const Finding& finding : {judge_rights(facts), judge_entity(facts)}) {
        check_access_failure(finding, "has no 'orders'", "create it");
        CHECK(finding.check == "entity");
        CHECK(finding.stops);
    }
}

TEST_CASE("doctor access: the kind of an entity") {
    EntityFacts facts = orders();
    CHECK(judge_entity(facts).found == "'orders' is a queue with sessions");
    CHECK(why_no_sessions(facts).empty());

    facts.receiving = granted_link;
    CHECK(judge_entity(facts).verdict == Verdict::ok);
    CHECK(judge_entity(facts).found == "'orders' is a queue without sessions");
    CHECK(tells(judge_entity(facts).change, "Receiver"));
    CHECK(tells(why_no_sessions(facts), "has no sessions"));

    facts.entity = "orders/$DeadLetterQueue";
    CHECK(tells(judge_entity(facts).found, "is a dead-letter queue without sessions"));
    CHECK(tells(judge_entity(facts).change, "dead letters never have sessions"));

    facts = orders();
    facts.entity = "orders/subscriptions/all";
    CHECK(tells(judge_entity(facts).found, "is a subscription with sessions"));
    facts.sending = refused_link(Errc::not_supported);
    CHECK(judge_entity(facts).verdict == Verdict::ok);
    facts.purpose = DoctorPurpose::both;
    check_access_failure(judge_entity(facts), "subscription", "belongs to");

    facts = orders();
    facts.receiving = refused_link(Errc::unauthorized);
    CHECK(tells(judge_entity(facts).found, "only a key with Listen"));
    CHECK(tells(why_no_sessions(facts), "may listen"));

    facts.receiving = refused_link(Errc::entity_disabled, "it is disabled");
    check_access_failure(judge_entity(facts), "it is disabled", "state");
    CHECK_FALSE(why_no_sessions(facts).empty());
}

TEST_CASE("doctor access: nothing is received from a topic") {
    EntityFacts facts = orders();
    facts.receiving = refused_link(Errc::not_supported);
    check_access_failure(judge_entity(facts), "is a topic", "orders/subscriptions/NAME");
    CHECK(tells(why_no_sessions(facts), "topic"));
    facts.purpose = DoctorPurpose::sending;
    CHECK(judge_entity(facts).verdict == Verdict::ok);
}

TEST_CASE("doctor access: message groups come without locks") {
    EntityFacts facts = orders();
    facts.is_groups = true;
    facts.receiving = granted_link;
    CHECK(tells(judge_entity(facts).found, "message groups"));
    CHECK(tells(why_no_sessions(facts), "no locks"));
}
