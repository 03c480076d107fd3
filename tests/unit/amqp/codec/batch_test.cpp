// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/batch.hpp"
#include "amqp/codec/message_codec.hpp"

using namespace sessionq;
using namespace sessionq::amqp;

TEST_CASE("batch: split_batch returns the messages of make_batch; the envelope has the first one's "
          "routing") {
    const std::vector<std::string> messages{
        encode_message({.body = "a", .session_id = "s", .message_id = "1"}, {}),
        encode_message({.body = std::string(1000, 'b'), .session_id = "s"}, {})};
    const std::string batch = make_batch(messages);
    const auto apart = split_batch(batch);
    REQUIRE(apart);
    CHECK(*apart == std::vector<std::string_view>{messages[0], messages[1]});
    CHECK(split_batch(batch, 1)->size() == 1);
    CHECK(split_batch(batch, 2)->size() == 2);
    const auto envelope = EncodedContent::make(batch, {});
    REQUIRE(envelope.ok());
    CHECK(envelope.value()->session_id() == "s");
    CHECK(envelope.value()->message_id() == "1");
    const std::size_t sections = MessageSections::find(batch)->properties.size();
    CHECK(batch.size() ==
          sections + batched_size(messages[0].size()) + batched_size(messages[1].size()));
    CHECK(sent_size(messages) == batch.size());
    CHECK(sent_size({messages[0]}) == messages[0].size()); // one message is no batch
    CHECK(sent_size({}) == 0);
}

TEST_CASE("batch: bytes without data sections are not a batch") {
    CHECK_FALSE(split_batch(""));
    CHECK_FALSE(split_batch("garbage"));
    CHECK_FALSE(split_batch(encode_message({.body = "a"}, {}).substr(0, 5)));
}
