// SPDX-License-Identifier: MIT
// R28: a message of any size around a limit is delivered or refused at the door: whatever became of
// it, nothing is stored that no client can get.
#include <doctest/doctest.h>

#include <chrono>

#include "managed.hpp"

using namespace sessionq;
using namespace sessionq::test;
using amqp::OutcomeKind;
using amqp::Value;
using std::chrono::seconds;

namespace {

constexpr std::size_t quarter = std::size_t{256} << 10U;
constexpr std::size_t mega = std::size_t{1} << 20U;
constexpr std::size_t frame = 65536;
const std::string long_text(4096, 'y');

struct Sizes : Managed {
    explicit Sizes(std::size_t limit) : Managed{"plain"} {
        make_queue("bounded", {.lock_duration = seconds{30}, .max_message_bytes = limit});
        make_queue("onward", {.max_message_bytes = limit, .forward_to = "bounded"});
    }

    std::string encoded_of(std::size_t size) {
        const auto encoded = [&](std::size_t body) {
            return amqp::encode_message({.body = std::string(body, 'x'), .message_id = "m"},
                                        reading());
        };
        const std::size_t beside = encoded(10'000).size() - 10'000;
        return encoded(size - beside);
    }

    /// Returns whether the broker took it.
    bool offer(const std::string& entity, std::size_t size) {
        LinkLog& sending = send("s", entity);
        sending.sender->send("1", encoded_of(size), false);
        run();
        REQUIRE(sending.outcomes.size() == 1);
        if (sending.outcomes[0].kind != OutcomeKind::accepted) {
            CHECK(sending.outcomes[0].error.name == "amqp:link:message-size-exceeded");
            CHECK_FALSE(sending.closed);
        }
        return sending.outcomes[0].kind == OutcomeKind::accepted;
    }

    LinkLog& take(const std::string& entity) {
        LinkLog& receiving = receive("r" + std::to_string(++taken_), entity);
        CHECK(receiving.remote.max_message_size == 0); // else a client would have to leave
        receiving.receiver->add_credit(1);
        run();
        return receiving;
    }

    void settle(LinkLog& receiving, const amqp::Outcome& outcome) {
        REQUIRE(receiving.deliveries.size() == 1);
        REQUIRE(receiving.deliveries[0].update(outcome));
        run();
        REQUIRE(receiving.outcomes.size() == 1);
    }

private:
    int taken_{0};
};

} // namespace

TEST_CASE("Sizes: what is stored can be delivered, however large it is and whatever became of it") {
    for (const std::size_t limit : {quarter, mega}) {
        for (const std::size_t size :
             {frame - 200, frame - 1, frame, frame + 1, quarter - 1, quarter, quarter + 1,
              mega - 5000, mega - 200, mega - 1, mega, mega + 1}) {
            CAPTURE(limit);
            CAPTURE(size);
            const bool fits = size <= limit;

            Sizes received{limit};
            CHECK(received.offer("bounded", size) == fits);
            CHECK(received.take("bounded").messages.size() == (fits ? 1 : 0));

            Sizes forwarded{limit};
            CHECK(forwarded.offer("onward", size) == fits);
            CHECK(forwarded.take("bounded").messages.size() == (fits ? 1 : 0));

            if (!fits) {
                continue;
            }
            Sizes dead{limit};
            CHECK(dead.offer("bounded", size));
            dead.settle(dead.take("bounded"),
                        {.kind = OutcomeKind::rejected,
                         .error = {.name = "com.microsoft:dead-letter",
                                   .info = amqp::encode(
                                       Value::map({{"DeadLetterReason", long_text},
                                                   {"DeadLetterErrorDescription", long_text}}))}});
            CHECK(dead.take("bounded/$DeadLetterQueue").messages.size() == 1);

            Sizes deferred{limit};
            CHECK(deferred.offer("bounded", size));
            deferred.settle(deferred.take("bounded"),
                            {.kind = OutcomeKind::modified, .undeliverable_here = true});
            CHECK(deferred.counts("bounded").deferred == 1);
            LinkLog& answers = deferred.receive("back", "bounded/$management");
            answers.receiver->add_credit(1);
            LinkLog& requests = deferred.send("ask", "bounded/$management");
            requests.sender->send(
                "1",
                Front::request(
                    "id", "back",
                    Value::map({{"operation", "com.microsoft:receive-by-sequence-number"}}),
                    Value::map({{"sequence-numbers", amqp::Value::list({std::int64_t{1}})},
                                {"receiver-settle-mode", std::uint32_t{1}}})),
                true);
            deferred.run();
            REQUIRE(answers.messages.size() == 1);
            CHECK(deferred.messages(Front::read_reply(answers.messages[0])).size() == 1);

            Sizes abandoned{limit};
            CHECK(abandoned.offer("bounded", size));
            abandoned.settle(abandoned.take("bounded"),
                             {.kind = OutcomeKind::modified,
                              .annotations = amqp::encode(Value::map({{"note", long_text}}))});
            abandoned.pass(seconds{31}); // the lock of one whose settlement was refused
            CHECK(abandoned.take("bounded").messages.size() == 1);
        }
    }
}
