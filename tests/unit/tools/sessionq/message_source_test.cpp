// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fstream>

#include "support/temporary_directory.hpp"
#include "tools/sessionq/message_source.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono;

namespace {

class Input {
public:
    explicit Input(const std::string& bytes, InputFormat format = InputFormat::lines) {
        input.file = (directory_.path() / "input").string();
        input.format = format;
        std::ofstream{input.file, std::ios::binary} << bytes;
    }

    std::vector<std::string> bodies(std::size_t most = 100) {
        MessageSource source{input, [] { return WallTime{}; }};
        std::vector<std::string> all;
        for (auto some = source.next(most); !some.empty(); some = source.next(most)) {
            CHECK(some.size() <= most);
            for (const Record& record : some) {
                all.push_back(record.message.body);
            }
        }
        return all;
    }
    std::string complaint() {
        try {
            static_cast<void>(bodies());
        } catch (const UsageError& error) {
            return error.what();
        }
        return {};
    }

    MessageInput input{};

private:
    test::TemporaryDirectory directory_{};
};

using Bodies = std::vector<std::string>;

} // namespace

TEST_CASE("MessageSource: lines are bodies, whatever their bytes") {
    CHECK(Input{""}.bodies() == Bodies{});
    CHECK(Input{"\n"}.bodies() == Bodies{""});
    CHECK(Input{"one\ntwo\n"}.bodies() == Bodies{"one", "two"});
    CHECK(Input{"one\n\ntwo"}.bodies() == Bodies{"one", "", "two"});
    CHECK(Input{std::string{"a\0b\r\n\xff", 6}}.bodies() ==
          Bodies{std::string{"a\0b\r", 4}, "\xff"});
    const std::string longer(200'000, 'x'); // than what is read at once
    CHECK(Input{longer + "\n" + longer}.bodies() == Bodies{longer, longer});
    Bodies many;
    std::string text;
    for (int i = 0; i < 50'000; ++i) {
        many.push_back(std::to_string(i));
        text += many.back() + "\n";
    }
    CHECK(Input{text}.bodies(7) == many);
}

TEST_CASE("MessageSource: the whole input is one body, also an empty one") {
    CHECK(Input{"", InputFormat::whole}.bodies() == Bodies{""});
    CHECK(Input{"a\nb\n", InputFormat::whole}.bodies() == Bodies{"a\nb\n"});
}

TEST_CASE("MessageSource: records, and the line of a wrong one") {
    Input records{"{\"body\":\"a\"}\n\n \t\r\n{\"body\":\"b\"}", InputFormat::json};
    CHECK(records.bodies() == Bodies{"a", "b"});
    CHECK(Input{"{}\n\n{\"bdoy\":\"\"}\n", InputFormat::json}.complaint() ==
          "line 3: unknown member 'bdoy'; did you mean 'body'?");
}

TEST_CASE("MessageSource: objects over several lines, and lists of them") {
    const Bodies two{"a", "b"};
    CHECK(Input{"{\n  \"body\": \"a\"\n}\n{\n\"body\":\n\"b\"}\n", InputFormat::json}.bodies() ==
          two);
    CHECK(Input{"[{\"body\":\"a\"},{\"body\":\"b\"}]", InputFormat::json}.bodies() == two);
    CHECK(Input{"[\n {\"body\": \"a\"},\n {\"body\": \"b\"}\n]\n", InputFormat::json}.bodies() ==
          two);
    CHECK(Input{"{\"body\":\"a\"} {\"body\":\"b\"}", InputFormat::json}.bodies() == two);
    CHECK(Input{"[]\n", InputFormat::json}.bodies().empty());
    CHECK(Input{"{\"body\":\"}]\\\"{\"}", InputFormat::json}.bodies() == Bodies{"}]\"{"});
    CHECK(Input{"[{\"body\":\"a\"},\n{\"bdoy\":\"\"}]", InputFormat::json}.complaint() ==
          "line 2: unknown member 'bdoy'; did you mean 'body'?");
    CHECK(
        Input{"{\n\"body\":\n\"b", InputFormat::json}.complaint().starts_with("line 1: not valid"));
    CHECK(Input{"[{}\n", InputFormat::json}.complaint().starts_with("line 1: not valid"));
    CHECK(Input{"nonsense\n{}\n", InputFormat::json}.complaint() ==
          "line 1: not valid JSON at byte 2");
}

TEST_CASE("MessageSource: bodies of the command line, with what options say of all") {
    MessageInput input;
    input.bodies = {"a", "b", "c"};
    input.pattern.session_id = "ada";
    input.delay = 2s;
    int asked = 0;
    MessageSource source{input, [&] { return WallTime{} + seconds{++asked}; }};
    const auto first = source.next(2);
    REQUIRE(first.size() == 2);
    CHECK(first[0].message.session_id == "ada");
    CHECK(first[0].message.scheduled_enqueue_time == WallTime{} + 3s);
    CHECK(first[1].message.scheduled_enqueue_time == WallTime{} + 3s); // together
    CHECK(source.next(2).size() == 1);
    CHECK(source.next(2).empty());
    CHECK(asked == 2);
}

TEST_CASE("MessageSource: an id is for one message, a file must be there") {
    Input two{"a\nb\n"};
    two.input.pattern.message_id = "m";
    CHECK(two.complaint() == "--id: is for a single message, and there are more");
    Input one{"a\n"};
    one.input.pattern.message_id = "m";
    CHECK(one.bodies() == Bodies{"a"});
    one.input.file += ".none";
    CHECK(one.complaint().find("No such file") != std::string::npos);
    one.input.file = "/";
    CHECK(one.complaint() == "--file '/': Is a directory");
}
