// SPDX-License-Identifier: MIT
// Batches of a processor on every port: order, no loss, no doubling.
#include <span>
#include <stdexcept>

#include "contract/processor_on_port.hpp"

using namespace sessionq;
using namespace sessionq::test;
using Batch = std::span<MessageContext>;

namespace {

/// A text and how often it was delivered before.
std::string word_of(const MessageContext& context) {
    return std::string{context.message().text()} + "/" +
           std::to_string(context.message().delivery_count());
}

void append(std::string& words, const std::string& word) {
    words.append(words.empty() ? "" : " ").append(word);
}

/// Nothing of the session is left at the broker.
void check_empty(PortCase& t) {
    CHECK(t.accept(std::nullopt).failure() == Errc::no_session_available);
}

detail::processor::Handlers handlers_of(std::function<void(Batch)> handle,
                                        BatchOptions batch = {}) {
    detail::processor::Handlers handlers;
    handlers.set(BatchHandler{std::move(handle)}, batch);
    return handlers;
}

} // namespace

PORT_CASE("batch: messages of a session are handled together, in order, and completed") {
    PortCase t{port};
    t.send("a", {"1", "2", "3", "4", "5"});
    std::string batches;
    ProcessorOnPort processor{t,
                              {.max_concurrent_sessions = 1},
                              handlers_of(
                                  [&](Batch all) {
                                      std::string words;
                                      for (const MessageContext& each : all) {
                                          append(words, std::string{each.message().text()});
                                      }
                                      append(batches, "[" + words + "]");
                                  },
                                  {.max_messages = 5, .max_wait = 1min})};
    CHECK(processor.until([&] { return !batches.empty(); }));
    processor.stop();
    CHECK(batches == "[1 2 3 4 5]");
    check_empty(t);
}

PORT_CASE("batch: of one that throws, what is done stays, and the rest comes again in order") {
    PortCase t{port};
    t.send("a", {"1", "2", "3", "4", "5"});
    std::string done;
    bool failed = false;
    ProcessorOnPort processor{
        t,
        {.max_concurrent_sessions = 1, .failure_policy = FailurePolicy::abandon_at_once()},
        handlers_of([&](Batch all) {
            for (MessageContext& each : all) {
                if (each.message().text() == "3" && !std::exchange(failed, true)) {
                    throw std::runtime_error{"at 3"};
                }
                each.complete();
                append(done, word_of(each));
            }
        })};
    CHECK(processor.until([&] { return done.find('5') != std::string::npos; }));
    processor.stop();
    CHECK(done == "1/0 2/0 3/1 4/0 5/0");
    check_empty(t);
}

PORT_CASE("batch: one that throws while its session is left gives the rest back uncounted") {
    PortCase t{port};
    t.send("a", {"1", "2", "3", "4"});
    detail::processor::Handlers handlers;
    Batch batch;
    Completion end;
    handlers.set(BatchHandler::started_by([&](Batch all, Completion completion) {
                     batch = all;
                     end = std::move(completion);
                 }),
                 {.max_messages = 4, .max_wait = 1min});
    {
        ProcessorOnPort processor{
            t,
            {.max_concurrent_sessions = 1, .failure_policy = FailurePolicy::abandon_at_once()},
            handlers};
        CHECK(processor.until([&] { return static_cast<bool>(end); }));
        REQUIRE(end);
        CHECK(batch.size() == 4);
        processor.ask_stop();
        batch.front().complete();
        end.failed(std::make_exception_ptr(std::runtime_error{"at 2"}));
        processor.stop();
    }
    const auto link = t.hold("a");
    t.receive(*link, 3);
    CHECK(link->text() == "2 3 4");
    CHECK(link->got[0]->message.delivery_count() == 1);
    CHECK(link->got[1]->message.delivery_count() == 0);
    CHECK(link->got[2]->message.delivery_count() == 0);
}
