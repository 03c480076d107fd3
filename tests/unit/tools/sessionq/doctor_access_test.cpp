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
    const Failure lost{.code = Errc::connection_lost, .detail = "the link was lost"};
    check_access_failure(judge(claim_of(lost)), "the link was lost", "log");
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
    facts.expires = facts.now;
    CHECK(judge(facts).verdict == Verdict::ok); // the broker knows better
    facts.failure = Failure{.code = Errc::unauthorized};
    check_access_failure(judge(facts), "the signature expired at", "clock");
    facts.expires = facts.now + seconds{1};
    check_access_failure(judge(facts), "rejected the signature", "new signature");
}
