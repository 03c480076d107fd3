// SPDX-License-Identifier: MIT
// R26: which peers are accepted, and which give way.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "amqp/admission.hpp"

using namespace sessionq::amqp;
using Answer = Admission::Answer;

namespace {

struct Peer final : Admission::Guest {
    void give_way() override { is_displaced = true; }
    bool is_displaced{false};
};

} // namespace

TEST_CASE("Admission: the newcomer whose last step is the longest ago gives way to the next") {
    Admission admission{{.newcomers = 3, .newcomers_per_address = 3}};
    Peer a;
    Peer b;
    Peer c;
    Peer d;
    Peer e;
    CHECK(admission.enter(a, "1") == Answer::welcome);
    CHECK(admission.enter(b, "2") == Answer::welcome);
    CHECK(admission.enter(c, "3") == Answer::welcome);
    CHECK_FALSE(a.is_displaced);
    admission.step(a);
    CHECK(admission.enter(d, "4") == Answer::welcome);
    CHECK_FALSE(a.is_displaced);
    CHECK(b.is_displaced);
    CHECK(admission.newcomers() == 3);
    CHECK(admission.guests() == 4); // b leaves when its connection ends
    admission.trust(c);
    CHECK(admission.enter(e, "5") == Answer::welcome); // in the place of c
    CHECK_FALSE(a.is_displaced);
    CHECK_FALSE(c.is_displaced);
    CHECK_FALSE(d.is_displaced);
}

TEST_CASE("Admission: an address that has its share displaces its own newcomers only") {
    Admission admission{{.newcomers = 4, .newcomers_per_address = 2}};
    Peer other;
    Peer first;
    Peer second;
    Peer third;
    CHECK(admission.enter(other, "other") == Answer::welcome);
    CHECK(admission.enter(first, "many") == Answer::welcome);
    CHECK(admission.enter(second, "many") == Answer::welcome);
    CHECK_FALSE(first.is_displaced);
    CHECK(admission.enter(third, "many") == Answer::welcome);
    CHECK_FALSE(other.is_displaced);
    CHECK(first.is_displaced);
    CHECK(admission.newcomers() == 3);
}

TEST_CASE("Admission: of the address that has most newcomers, the oldest gives way") {
    Admission admission{{.newcomers = 5, .newcomers_per_address = 5}};
    Peer client;
    Peer flood[8];
    CHECK(admission.enter(client, "client") == Answer::welcome);
    for (int i = 0; i < 8; ++i) {
        CHECK(admission.enter(flood[i], i % 2 == 0 ? "even" : "odd") == Answer::welcome);
    }
    CHECK_FALSE(client.is_displaced);
    for (int i = 0; i < 8; ++i) {
        CHECK(flood[i].is_displaced == (i < 4));
    }
    CHECK(admission.newcomers() == 5);
}

TEST_CASE("Admission: connections are bounded in total and per address, trusted ones too") {
    Admission admission{{.connections = 3, .connections_per_address = 2}};
    Peer a;
    Peer b;
    Peer c;
    Peer d;
    Peer e;
    CHECK(admission.enter(a, "1") == Answer::welcome);
    admission.trust(a);
    CHECK(admission.enter(b, "1") == Answer::welcome);
    CHECK(admission.enter(c, "1") == Answer::too_many_from_address);
    CHECK(admission.guests() == 2);
    CHECK(admission.enter(d, "2") == Answer::welcome);
    CHECK(admission.enter(e, "3") == Answer::too_many);
    admission.leave(a);
    CHECK(admission.enter(e, "1") == Answer::welcome);
}

TEST_CASE("Admission: a guest leaves when it is destroyed, and may be left twice") {
    Admission admission{{.connections = 1}};
    {
        Peer a;
        CHECK(admission.enter(a, "1") == Answer::welcome);
        admission.leave(a);
        admission.leave(a);
        CHECK(admission.enter(a, "1") == Answer::welcome);
        CHECK(admission.newcomers() == 1);
    }
    CHECK(admission.guests() == 0);
    CHECK(admission.newcomers() == 0);
}

TEST_CASE("address_of: takes the port away") {
    CHECK(address_of("127.0.0.1:5672") == "127.0.0.1");
    CHECK(address_of("fe80::1:5672") == "fe80::1");
    CHECK(address_of("the test") == "the test");
}

TEST_CASE(
    "Admission: what was told to leave counts until it is gone, also where it was not welcome") {
    Admission admission{{.connections = 2, .newcomers = 1, .leaving = 3}};
    auto first = std::make_unique<Peer>();
    Peer second;
    CHECK(admission.enter(*first, "1") == Answer::welcome);
    CHECK(admission.enter(second, "2") == Answer::welcome); // the first gives way
    CHECK(admission.leaving() == 1);
    Peer third;
    Peer fourth;
    CHECK(admission.enter(third, "3") == Answer::too_many);
    CHECK_FALSE(admission.is_crowded());
    CHECK(admission.enter(fourth, "4") == Answer::too_many);
    CHECK(admission.is_crowded());
    admission.dismiss(fourth); // once
    CHECK(admission.leaving() == 3);
    first.reset();
    CHECK(admission.leaving() == 2);
    CHECK_FALSE(admission.is_crowded());
    CHECK(admission.guests() == 1);
    admission.leave(third);
    admission.leave(fourth);
    CHECK(admission.leaving() == 0);
    CHECK(admission.guests() == 1);
}
