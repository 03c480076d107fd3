// SPDX-License-Identifier: MIT
#include "processor/message/batch_machine.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace sessionq;
using detail::processor::BatchMachine;
using detail::processor::Ending;
using detail::processor::MessageEnd;
using detail::processor::MessageMachine;

namespace {

/// How the messages of a batch end: "h"andled, "f"ailed, given "b"ack. `decided`: "x" where the
/// handler settled one itself. `stated`: the first message whose failure it stated.
std::string endings(const std::string& decided, bool failed,
                    std::size_t stated = std::string::npos) {
    const BatchMachine machine{decided.size(), std::min(decided.find('-'), decided.size()), failed,
                               std::min(stated, decided.size())};
    std::string text;
    for (std::size_t i = 0; i < decided.size(); ++i) {
        const Ending ending = machine.ending(i, decided[i] == 'x');
        text += ending == Ending::handled ? 'h' : ending == Ending::failed ? 'f' : 'b';
    }
    return text;
}

struct Told {
    char name;
    MessageEnd how;
    [[nodiscard]] const MessageEnd& end() const noexcept { return how; }
};

std::string in_order(std::vector<Told> all) {
    std::vector<Told*> calls;
    for (Told& each : all) {
        calls.push_back(&each);
    }
    BatchMachine::order(calls);
    std::string names;
    for (const Told* each : calls) {
        names += each->name;
    }
    return names;
}

} // namespace

TEST_CASE("batch machine: what the handler settled stands, the first that it did not failed") {
    CHECK(endings("---", false) == "hhh");
    CHECK(endings("x-x", false) == "hhh");
    CHECK(endings("---", true) == "fbb");
    CHECK(endings("xx--", true) == "hhfb");
    CHECK(endings("x-x-", true) == "hfhb");
    CHECK(endings("-", true) == "f");
}

TEST_CASE("batch machine: a stated failure is that of its message, and what is before is handled") {
    CHECK(endings("---", false, 0) == "fbb");
    CHECK(endings("---", false, 1) == "hfb");
    CHECK(endings("--x-", false, 1) == "hfhb");
    CHECK(endings("-x--", false, 1) == "hfbb"); // its settlement stands, see MessageMachine
    CHECK(endings("xxx", false, 2) == "hhf");
    CHECK(endings("x--", true, 2) == "hfb"); // the first was to be settled and was not
    CHECK(endings("x--", true, 0) == "fbb");
}

TEST_CASE("batch machine: a failure after all were settled is told with the last") {
    CHECK(endings("xxx", true) == "hhf");
}

TEST_CASE("batch machine: R6: what leaves is told first, what failed last, the rest backwards") {
    const MessageEnd handled{};
    const MessageEnd given_back{.ending = Ending::given_back};
    const MessageEnd failed{.ending = Ending::failed};
    const MessageEnd abandoned{.decision = ports::Outcome::abandon};
    const MessageEnd completed{.ending = Ending::failed, .decision = ports::Outcome::complete};
    CHECK(in_order({{'1', handled}, {'2', handled}, {'3', handled}}) == "123");
    CHECK(in_order({{'1', handled},
                    {'2', failed},
                    {'3', given_back},
                    {'4', completed},
                    {'5', given_back},
                    {'6', given_back}}) == "146532");
    CHECK(in_order({{'1', abandoned}, {'2', failed}, {'3', given_back}, {'4', abandoned}}) ==
          "3214");
}

TEST_CASE("batch machine: what may not start yet, or has expired, is in no batch with others") {
    MessageMachine plain;
    CHECK(BatchMachine::joins(plain, false, true));
    CHECK_FALSE(BatchMachine::joins(plain, true, true));
    MessageMachine suspect;
    suspect.note_suspect({.sequence = 1});
    CHECK_FALSE(BatchMachine::joins(suspect, false, true));
    CHECK(BatchMachine::joins(suspect, false, false));
    for (const bool guarded : {false, true}) {
        MessageMachine examined;
        examined.note_suspect({.sequence = 1});
        static_cast<void>(examined.arrived(MessageMachine::Arrival::enqueue, 1, false));
        static_cast<void>(examined.ended({.ending = Ending::unexamined}, {}, TimePoint{}));
        static_cast<void>(examined.examined(guarded));
        CHECK(BatchMachine::joins(examined, false, true) == !guarded);
    }
}
