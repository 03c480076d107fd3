#include "processor/lease.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using processor::Lease;
using Step = Lease::Step;

namespace {

constexpr TimePoint t0{std::chrono::hours{1}};

Lease granted(Duration length) {
    Lease lease;
    lease.grant(t0, length);
    return lease;
}

} // namespace

TEST_CASE(
    "lease: R12: its length counts from the instant it was asked for, a slow answer shortens it") {
    Lease lease = granted(60s);
    CHECK(lease.expires().time() == t0 + 60s);
    lease.grant(t0 + 50s, 60s); // answered whenever
    CHECK(lease.expires().time() == t0 + 110s);
}

TEST_CASE("lease: R11: renewed ten seconds before its end, a short one at half of its length") {
    struct Row {
        Duration length;
        Duration renew_after;
    };
    for (const Row row :
         {Row{60s, 50s}, Row{30s, 20s}, Row{20s, 10s}, Row{5s, 2500ms}, Row{100ms, 50ms}}) {
        CAPTURE(row.length.count());
        Lease lease = granted(row.length);
        const Lease::Next waits = lease.next(t0, true);
        CHECK(waits.step == Step::wait);
        CHECK(waits.at == t0 + row.renew_after);
        CHECK(lease.next(t0 + row.renew_after - 1ns, true).step == Step::wait);
        CHECK(lease.next(t0 + row.renew_after, true).step == Step::renew);
    }
}

TEST_CASE(
    "lease: R13: the holder is warned before the end, nothing starts after the warning's instant") {
    struct Row {
        Duration length;
        Duration margin;
    };
    for (const Row row : {Row{60s, 2s}, Row{20s, 2s}, Row{5s, 500ms}, Row{100ms, 10ms}}) {
        CAPTURE(row.length.count());
        Lease lease = granted(row.length);
        lease.renewal_asked(); // and never answered
        const TimePoint warning = t0 + row.length - row.margin;
        CHECK(lease.last_start() == warning);
        CHECK(lease.next(t0, true).at == warning);
        CHECK(lease.next(warning - 1ns, true).step == Step::wait);
        CHECK(lease.next(warning, true).step == Step::warn);
        CHECK(lease.warned());
        CHECK(lease.next(warning, true).step == Step::wait); // once
        CHECK(lease.next(warning, true).at == t0 + row.length);
        CHECK(lease.next(t0 + row.length, true).step == Step::expire);
    }
}

TEST_CASE("lease: R13: found late, the end itself is told at once") {
    Lease lease = granted(60s);
    CHECK(lease.next(t0 + 61s, true).step == Step::expire);
}

TEST_CASE("lease: one renewal at a time, an answer begins the next round") {
    Lease lease = granted(60s);
    CHECK(lease.next(t0 + 50s, true).step == Step::renew);
    lease.renewal_asked();
    CHECK(lease.renewing());
    CHECK(lease.next(t0 + 51s, true).step == Step::wait);
    lease.grant(t0 + 50s, 60s);
    CHECK_FALSE(lease.renewing());
    CHECK(lease.next(t0 + 52s, true).at == t0 + 100s);
}

TEST_CASE("lease: R13: a renewal that fails is tried again until the warning") {
    Lease lease = granted(60s);
    int renewals = 0;
    TimePoint now = t0;
    for (;;) {
        const Lease::Next next = lease.next(now, true);
        if (next.step == Step::warn) {
            break;
        }
        if (next.step == Step::wait) {
            REQUIRE(next.at > now);
            now = next.at;
            continue;
        }
        REQUIRE(next.step == Step::renew);
        ++renewals;
        lease.renewal_asked();
        lease.renewal_failed(now);
    }
    CHECK(now == t0 + 58s);
    CHECK(renewals == 3); // at 50, 53 and 56 s
}

TEST_CASE("lease: R17: renewals that fail are spaced for short leases too") {
    Lease lease = granted(100ms);
    CHECK(lease.next(t0 + 50ms, true).step == Step::renew);
    lease.renewal_asked();
    lease.renewal_failed(t0 + 50ms);
    CHECK(lease.next(t0 + 51ms, true).at == t0 + 90ms); // the warning comes first
    lease = granted(1000s);
    CHECK(lease.next(t0 + 990s, true).step == Step::renew);
    lease.renewal_asked();
    lease.renewal_failed(t0 + 990s);
    CHECK(lease.next(t0 + 990s, true).at == t0 + 995s);
}

TEST_CASE("lease: not renewed while that is not wanted, and again when it is") {
    Lease lease = granted(60s);
    CHECK(lease.next(t0 + 55s, false).step == Step::wait);
    CHECK(lease.next(t0 + 55s, false).at == t0 + 58s);
    CHECK(lease.next(t0 + 55s, true).step == Step::renew);
    CHECK(lease.next(t0 + 58s, true).step == Step::warn);
    CHECK(lease.next(t0 + 58s, true).step == Step::wait); // warned: given up
}

TEST_CASE("lease: a grant after the warning does not take it back") {
    Lease lease = granted(60s);
    lease.renewal_asked();
    CHECK(lease.next(t0 + 58s, true).step == Step::warn);
    lease.grant(t0 + 50s, 60s);
    CHECK(lease.warned());
    CHECK(lease.next(t0 + 59s, true).at == t0 + 110s);
}

TEST_CASE("lease: R12: one that is in doubt is renewed at once, once") {
    Lease lease = granted(60s);
    lease.doubt(t0 + 5s);
    CHECK(lease.next(t0 + 5s, true).step == Step::renew);
    lease.renewal_asked();
    lease.doubt(t0 + 6s);
    CHECK(lease.next(t0 + 6s, true).step == Step::wait);
    lease.grant(t0 + 5s, 30s);
    CHECK(lease.next(t0 + 7s, true).at == t0 + 25s);
    lease.doubt(t0 + 8s);
    CHECK(lease.next(t0 + 8s, false).step == Step::wait); // not where renewing is not wanted
    Lease endless;
    endless.grant(t0, std::nullopt);
    endless.doubt(t0);
    CHECK(endless.next(t0, true).step == Step::wait);
}

TEST_CASE("lease: without an end there is nothing to do") {
    Lease lease;
    lease.grant(t0, std::nullopt);
    CHECK(lease.expires().is_never());
    CHECK(lease.last_start() == TimePoint::max());
    CHECK(lease.next(t0 + 24h * 365, true).step == Step::wait);
    CHECK(lease.next(t0, true).at == TimePoint::max());
    lease.grant(t0, Duration::max());
    CHECK(lease.next(t0 + 24h, true).at == TimePoint::max());
}

TEST_CASE("lease: R12: an accept that was answered fast counts from the question") {
    Lease lease;
    lease.grant_by_accept(t0, t0 + 1s, 60s);
    CHECK(lease.expires().time() == t0 + 60s);
    CHECK(lease.next(t0 + 1s, true).at == t0 + 50s);
}

TEST_CASE("lease: R12: an accept that waited at the broker is measured by a renewal at once") {
    Lease lease;
    lease.grant_by_accept(t0, t0 + 45s, 60s);
    CHECK(lease.expires().time() == t0 + 45s - 2s + 60s);
    CHECK(lease.next(t0 + 45s, true).step == Step::renew);
    lease.renewal_asked();
    lease.grant(t0 + 45s, 60s);
    CHECK(lease.expires().time() == t0 + 105s);
    CHECK(lease.next(t0 + 45s, true).step == Step::wait);

    Lease endless;
    endless.grant_by_accept(t0, t0 + 45s, std::nullopt);
    CHECK(endless.next(t0 + 45s, true).at == TimePoint::max());
}
