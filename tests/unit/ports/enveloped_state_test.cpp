// SPDX-License-Identifier: MIT
#include "ports/enveloped_state.hpp"

#include <doctest/doctest.h>

#include "unit/processor/support/scripted_port.hpp"

using namespace sessionq;
using ports::StateEnvelope;

namespace {

/// A session's state over a scripted link. Answers come when the test says so.
struct Bench {
    std::shared_ptr<test::ScriptedLink> script{
        std::make_shared<test::ScriptedLink>("a", std::nullopt)};
    test::LinkToScript link{script};
    ports::EnvelopedState state{link};
    std::string answers{};

    void get() {
        state.get({}, [this](const core::Result<std::optional<std::string>>& answer) {
            tell(answer.ok() ? "state " + answer.value().value_or("none")
                             : std::string{to_string(answer.failure().code)});
        });
    }
    ports::RequestId set(std::optional<std::string> to) {
        return state.set(std::move(to), {}, done());
    }
    void read_record() {
        state.read_record({}, [this](const core::Result<std::string>& answer) {
            tell(answer.ok() ? "record " + answer.value()
                             : std::string{to_string(answer.failure().code)});
        });
    }
    void write_record(std::string record) { state.write_record(std::move(record), {}, done()); }
    ports::SessionLink::DoneHandler done() {
        return [this](const core::Result<core::Done>& answer) {
            tell(answer.ok() ? "done" : std::string{to_string(answer.failure().code)});
        };
    }
    void tell(const std::string& text) { answers.append(answers.empty() ? "" : ", ").append(text); }
    std::string take_answers() {
        while (script->answer_state()) {
        }
        return std::exchange(answers, {});
    }
    void keep(std::optional<std::string> application, std::string record) {
        script->state =
            StateEnvelope{.application = std::move(application), .record = std::move(record)}
                .seal();
    }
    [[nodiscard]] std::string kept() const {
        const StateEnvelope envelope = StateEnvelope::open(script->state);
        return envelope.application.value_or("none") + "|" + envelope.record;
    }
};

} // namespace

TEST_CASE("enveloped state: the application does not see the record, and does not touch it") {
    Bench bench;
    bench.keep("half way", "later");
    bench.get();
    CHECK(bench.take_answers() == "state half way");
    bench.set("done");
    CHECK(bench.take_answers() == "done");
    CHECK(bench.kept() == "done|later");
    bench.set(std::nullopt);
    CHECK(bench.take_answers() == "done");
    CHECK(bench.kept() == "none|later");
    bench.get();
    CHECK(bench.take_answers() == "state none");
}

TEST_CASE("enveloped state: the record is changed beside the application's state") {
    Bench bench;
    bench.script->state = "half way";
    bench.read_record();
    CHECK(bench.take_answers() == "record ");
    bench.write_record("later");
    CHECK(bench.take_answers() == "done");
    CHECK(bench.kept() == "half way|later");
    bench.write_record("");
    CHECK(bench.take_answers() == "done");
    CHECK(bench.script->state == "half way");
}

TEST_CASE("enveloped state: the first change of a session reads once, later ones do not") {
    Bench bench;
    bench.keep("a", "later");
    bench.set("b");
    CHECK(bench.take_answers() == "done");
    CHECK(bench.script->take_log() == "state read, state written");
    bench.set("c");
    CHECK(bench.take_answers() == "done");
    CHECK(bench.script->take_log() == "state written");
    CHECK(bench.kept() == "c|later");
}

TEST_CASE("enveloped state: operations at once do not overwrite each other") {
    Bench bench;
    bench.write_record("later");
    bench.set("half way");
    bench.read_record();
    bench.get();
    CHECK(bench.take_answers() == "done, done, record later, state half way");
    CHECK(bench.kept() == "half way|later");
}

TEST_CASE("enveloped state: after a failed change the record is read again") {
    Bench bench;
    bench.keep("a", "later");
    bench.get();
    CHECK(bench.take_answers() == "state a");
    static_cast<void>(bench.script->take_log());
    bench.set("b");
    REQUIRE(bench.script->writers.size() == 1);
    const auto refused = std::move(bench.script->writers.front());
    bench.script->writers.pop_front();
    refused(Failure{.code = Errc::timeout});
    CHECK(bench.take_answers() == "timeout");
    bench.set("c");
    CHECK(bench.take_answers() == "done");
    CHECK(bench.script->take_log() == "state read, state written");
}

TEST_CASE("enveloped state: one that is given up answers once, and the others go on") {
    Bench bench;
    bench.get();
    const ports::RequestId second = bench.set("b");
    const ports::RequestId third = bench.set("c");
    bench.state.give_up(third);
    CHECK(bench.answers == "cancelled");
    bench.state.give_up(third);
    CHECK(bench.take_answers() == "cancelled, state none, done");
    CHECK(bench.kept() == "b|");
    bench.state.give_up(second);
    CHECK(bench.take_answers().empty());
}
