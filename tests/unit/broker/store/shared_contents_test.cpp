// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "broker/store/shared_contents.hpp"

using namespace sessionq;
using namespace sessionq::broker;

namespace {

MessageContentPtr content() {
    return std::make_shared<DecodedContent>(Message::of("body").in_session("s"));
}

} // namespace

TEST_CASE("SharedContents: knows a content by its object until no message uses it") {
    SharedContents contents;
    const auto one = content();
    const auto other = content();
    CHECK(contents.id_of(*one) == 0);
    contents.add(5, one);
    contents.use(5);
    contents.use(5);
    CHECK(contents.id_of(*one) == 5);
    CHECK(contents.content_of(5) == one);
    CHECK(contents.id_of(*other) == 0);
    CHECK(contents.content_of(6) == nullptr);
    contents.keep();
    contents.release(5);
    CHECK(contents.take_unused().empty());
    contents.keep();
    contents.release(5);
    CHECK(contents.id_of(*one) == 5); // until it is taken
    CHECK(contents.take_unused() == std::vector<std::int64_t>{5});
    CHECK(contents.take_unused().empty());
    CHECK(contents.id_of(*one) == 0);
    contents.keep();
    CHECK(one.use_count() == 1);
}

TEST_CASE("SharedContents: a content that moves to another message is not unused") {
    SharedContents contents;
    const auto one = content();
    contents.add(5, one);
    contents.use(5);
    contents.keep();
    contents.release(5);
    contents.use(5);
    CHECK(contents.take_unused().empty());
    CHECK(contents.id_of(*one) == 5);
}

TEST_CASE("SharedContents: a transaction that is rolled back leaves everything as it was") {
    SharedContents contents;
    const auto one = content();
    const auto other = content();
    contents.add(5, one);
    contents.use(5);
    contents.keep();
    contents.add(6, other);
    contents.use(6);
    contents.release(5);
    CHECK(contents.take_unused() == std::vector<std::int64_t>{5});
    contents.undo();
    CHECK(contents.id_of(*one) == 5);
    CHECK(contents.id_of(*other) == 0);
    contents.release(5);
    CHECK(contents.take_unused() == std::vector<std::int64_t>{5});
    contents.keep();
    contents.undo(); // nothing to undo
    CHECK(contents.id_of(*one) == 0);
}

TEST_CASE("SharedContents: the contents of a store that no message uses are unused") {
    SharedContents contents;
    contents.add(5, content());
    contents.add(6, content());
    contents.use(6);
    CHECK(contents.take_unused() == std::vector<std::int64_t>{5});
    contents.use(7); // there is none
    contents.release(7);
    CHECK(contents.take_unused().empty());
}
