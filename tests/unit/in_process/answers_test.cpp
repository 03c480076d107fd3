#include "in_process/answers.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/held_journal.hpp"
#include "support/manual_loop.hpp"

using namespace sessionq;

namespace {

struct Fixture {
    Fixture() { pump->retain(); }
    ~Fixture() { pump->release(); }
    Fixture(const Fixture&) = delete;
    Fixture& operator=(const Fixture&) = delete;

    void give(int value, std::function<void()> then = {}) {
        answers->give<int>(
            [this, then = std::move(then)](const core::Result<int>& result) {
                log += result ? std::to_string(result.value())
                              : std::string{to_string(result.failure().code)};
                log += ";";
                if (then) {
                    then();
                }
            },
            value);
    }

    test::ManualLoop loop{};
    std::shared_ptr<in_process::Pump> pump{std::make_shared<in_process::Pump>(loop)};
    std::shared_ptr<in_process::Answers> answers{std::make_shared<in_process::Answers>(pump)};
    std::string log{};
};

} // namespace

TEST_CASE("answers: are given by a later turn, in order, once") {
    Fixture f;
    f.give(1);
    f.give(2);
    CHECK(f.log.empty());
    f.loop.run_until_idle();
    CHECK(f.log == "1;2;");
    f.answers->cancel();
    CHECK(f.log == "1;2;");
}

TEST_CASE("answers: those that wait are cancelled at once, also by one of them") {
    Fixture f;
    f.give(1, [&] { f.answers->cancel(); });
    f.give(2);
    f.loop.run_until_idle();
    CHECK(f.log == "1;cancelled;");
}

TEST_CASE("answers: a handler that asks again gets its answer by a later turn") {
    Fixture f;
    f.give(1, [&] { f.give(2); });
    f.loop.turn();
    CHECK(f.log == "1;");
    f.loop.run_until_idle();
    CHECK(f.log == "1;2;");
}

TEST_CASE("answers: what is dropped is never given") {
    Fixture f;
    f.give(1);
    f.answers->drop();
    f.loop.run_until_idle();
    CHECK(f.log.empty());
}

TEST_CASE("answers: what confirms a change is said once it is kept, with the reason if it cannot "
          "be, and once only when it is cancelled first") {
    Fixture f;
    test::HeldJournal journal;
    f.answers = std::make_shared<in_process::Answers>(f.pump, &journal);
    const auto confirm = [&f](core::Result<int> answer) {
        f.answers->confirm<int>(
            [&f](const core::Result<int>& result) {
                f.log += (result ? std::to_string(result.value())
                                 : std::string{to_string(result.failure().code)}) +
                         ";";
            },
            std::move(answer));
        f.loop.run_until_idle();
    };
    confirm(1);
    confirm(Failure{.code = Errc::timeout}); // a refusal has changed nothing
    CHECK(f.log == "timeout;");
    journal.answer();
    CHECK(f.log == "timeout;"); // on the loop only
    f.loop.run_until_idle();
    CHECK(f.log == "timeout;1;");
    confirm(2);
    journal.answer(Failure{.code = Errc::quota_exceeded});
    f.loop.run_until_idle();
    CHECK(f.log == "timeout;1;quota_exceeded;");
    confirm(3);
    f.answers->cancel();
    journal.answer();
    f.loop.run_until_idle();
    CHECK(f.log == "timeout;1;quota_exceeded;cancelled;");
}
