// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include "broker/filter/sql_parser.hpp"

using namespace sessionq;
using namespace sessionq::broker::filter;

namespace {

Message order() {
    return {.session_id = "s-1",
            .message_id = "m-1",
            .subject = "order",
            .correlation_id = "c-1",
            .content_type = "text/plain",
            .properties = {{"Color", std::string{"red"}},
                           {"count", std::int64_t{10}},
                           {"big", std::uint64_t{0xffff'ffff'ffff'ffffU}},
                           {"price", 2.5},
                           {"urgent", true},
                           {"nothing", {}},
                           {"With Space", std::int64_t{1}},
                           {"100%_sure", std::string{"50%_off"}},
                           {"name", std::string{"Zoë"}},
                           {"when", WallTime{std::chrono::seconds{5}}},
                           {"cost", *Decimal::parse("7.50")},
                           {"small", *Decimal::parse("-0.001", Decimal::Width::bits32)},
                           {"tenth", *Decimal::parse("0.1")},
                           {"five", PropertyValue{std::int64_t{5}, ValueType::int8}},
                           {"key", *Uuid::parse("00112233-4455-6677-8899-aabbccddeeff")},
                           {"letter", U'\u00e4'},
                           {"link", Uri{"https://a.example/b"}},
                           {"span", TimeSpan{std::chrono::seconds{5}}},
                           {"longer", TimeSpan{std::chrono::hours{1}}},
                           {"offset", DateTimeOffset{WallTime{std::chrono::seconds{5}}}},
                           {"far", FarTime{std::chrono::milliseconds{253'402'300'799'999}}},
                           {"list", EncodedValue{"\x45"}}}};
}

/// "true", "false", "unknown", or the error.
std::string ask(const char* condition) {
    const auto parsed = parse_condition(condition);
    if (!parsed) {
        CHECK(parsed.failure().code == Errc::invalid_argument);
        return parsed.failure().detail;
    }
    Work work{0};
    const Value value = evaluate(*parsed.value(), order(), work);
    const auto* truth = std::get_if<bool>(&value);
    return truth == nullptr ? "unknown" : *truth ? "true" : "false";
}

} // namespace

TEST_CASE("SQL filter: compares texts, numbers, truth values and times") {
    for (const char* holds : {"color = 'red'",
                              "user.Color = 'red'",
                              "'red' = color",
                              "color <> 'blue'",
                              "color != 'blue'",
                              "color > 'blue'",
                              "count = 10",
                              "count = 10.0",
                              "count >= 10 ",
                              "count<=10",
                              "count < 11",
                              "9 < count",
                              "price = 2.5",
                              "price = 25e-1",
                              "price > 2",
                              "big > 9223372036854775807",
                              "big > count",
                              "urgent = TRUE",
                              "urgent <> false",
                              "urgent",
                              "TRUE",
                              "1=1",
                              "when = when",
                              "when <= when",
                              "sys.Label = 'order'",
                              "SYS.label = 'order'",
                              "sys.CorrelationId = 'c-1'",
                              "sys.MessageId='m-1'",
                              "sys.SessionId = 's-1'",
                              "sys.ContentType = 'text/plain'",
                              "\"count\" = 10",
                              "[With Space] = 1",
                              "'it''s' = 'it''s'",
                              "name = 'Zoë'"}) {
        CAPTURE(holds);
        CHECK(ask(holds) == "true");
    }
    for (const char* fails : {"color = 'Red'", "color = 'blue'", "count > 10", "price < 2.5",
                              "urgent = false", "FALSE", "1 = 2", "sys.Label = 'x'"}) {
        CAPTURE(fails);
        CHECK(ask(fails) == "false");
    }
}

TEST_CASE("SQL filter: compares and calculates with decimals") {
    for (const char* holds :
         {"cost > 5",          "cost = 7.5",     "7.5 = cost",           "cost <> 7",
          "cost IN (1, 7.5)",  "-cost < 0",      "cost < 1000000000000", "cost < big",
          "small < 0",         "small > -1",     "small < cost",         "tenth = 0.1",
          "tenth * 3 = 0.3",   "cost + 1 = 8.5", "cost - cost = 0",      "cost * 2 = 15",
          "cost / 2 = 3.75",   "cost % 2 = 1.5", "cost / 3 > 2.4",       "cost + 0.5 = 8.0",
          "cost NOT IN (7, 8)"}) {
        CAPTURE(holds);
        CHECK(ask(holds) == "true");
    }
    for (const char* fails : {"cost > 7.5", "cost = 7", "cost IN (7, 8)", "cost < 0"}) {
        CAPTURE(fails);
        CHECK(ask(fails) == "false");
    }
    for (const char* unknown :
         {"cost / 0 = 1", "cost % 0 = 1", "cost = '7.50'", "cost LIKE '7%'"}) {
        CAPTURE(unknown);
        CHECK(ask(unknown) == "unknown");
    }
}

TEST_CASE("SQL filter: compares UUIDs, characters, URIs, lengths of time and far times") {
    for (const char* holds :
         {"key = '00112233-4455-6677-8899-aabbccddeeff'",
          "key = '00112233-4455-6677-8899-AABBCCDDEEFF'", "key <> 'other'", "key = key",
          "key LIKE '00112233%'", "letter = 'ä'", "letter + 'b' = 'äb'",
          "link = 'https://a.example/b'", "link LIKE 'https://%'", "span = span", "span < longer",
          "longer >= span", "offset = when", "when = offset", "far > when", "far > offset",
          "far = far", "five = 5"}) {
        CAPTURE(holds);
        CHECK(ask(holds) == "true");
    }
    for (const char* fails : {"key = '00112233-4455-6677-8899-aabbccddeefe'", "letter = 'a'",
                              "link = 'x'", "span > longer", "far < when", "list <> list"}) {
        CAPTURE(fails);
        CHECK(ask(fails) == "false");
    }
    for (const char* unknown :
         {"span > 5", "span = 5", "far = 5", "list = 5", "-span < 5", "key > 5"}) {
        CAPTURE(unknown);
        CHECK(ask(unknown) == "unknown");
    }
}

TEST_CASE("SQL filter: missing, null and incomparable values are unknown, and so are predicates "
          "about them") {
    for (const char* unknown : {"missing = 1",
                                "missing <> 1",
                                "nothing = NULL",
                                "NULL = NULL",
                                "count = '10'",
                                "color > 5",
                                "urgent > FALSE",
                                "missing",
                                "color",
                                "missing LIKE 'a'",
                                "count LIKE '1%'",
                                "color LIKE missing",
                                "missing IN (1, 2)",
                                "count IN (1, missing)",
                                "count NOT IN (1, NULL)",
                                "NOT missing = 1",
                                "count + missing = 1",
                                "-missing = 1",
                                "1 / 0 = 1",
                                "1 % 0 = 1",
                                "color - 'a' = ''",
                                "9223372036854775807 + 1 > 0",
                                "sys.To = 'x'",
                                "p('missing') = 1",
                                "color LIKE 'r' ESCAPE color",
                                "when = 'now'"}) {
        CAPTURE(unknown);
        CHECK(ask(unknown) == "unknown");
    }
}

TEST_CASE("SQL filter: AND, OR and NOT of true, false and unknown") {
    const char* values[] = {"1=1", "1=2", "missing=1"};
    const char* conjunction[3][3] = {
        {"true", "false", "unknown"}, {"false", "false", "false"}, {"unknown", "false", "unknown"}};
    const char* disjunction[3][3] = {
        {"true", "true", "true"}, {"true", "false", "unknown"}, {"true", "unknown", "unknown"}};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            CHECK(ask((std::string{values[i]} + " AND " + values[j]).c_str()) == conjunction[i][j]);
            CHECK(ask((std::string{values[i]} + " or " + values[j]).c_str()) == disjunction[i][j]);
        }
    }
    CHECK(ask("NOT 1=1") == "false");
    CHECK(ask("NOT 1=2") == "true");
    CHECK(ask("NOT NOT missing=1") == "unknown");
}

TEST_CASE("SQL filter: NOT binds closer than AND, AND closer than OR, arithmetic closer than "
          "comparison") {
    CHECK(ask("1=1 OR 1=1 AND 1=2") == "true");
    CHECK(ask("(1=1 OR 1=1) AND 1=2") == "false");
    CHECK(ask("NOT 1=2 AND 1=2") == "false");
    CHECK(ask("NOT (1=2 AND 1=2)") == "true");
    CHECK(ask("2 + 3 * 4 = 14") == "true");
    CHECK(ask("(2 + 3) * 4 = 20") == "true");
    CHECK(ask("10 - 3 - 2 = 5") == "true");
    CHECK(ask("-2 * -3 = +6") == "true");
    CHECK(ask("7 / 2 = 3 AND 7 % 4 = 3 AND 7 / 2.0 = 3.5 AND 7.5 % 2 = 1.5") == "true");
    CHECK(ask("color + '!' = 'red!'") == "true");
    CHECK(ask("((count)) + (1) = 11") == "true");
}

TEST_CASE("SQL filter: IN, LIKE, IS NULL, EXISTS and functions") {
    for (const char* holds : {"color IN ('blue', 'red')",
                              "count NOT IN (1, 2)",
                              "count IN (5 + 5)",
                              "color LIKE 'r%'",
                              "color LIKE '%e%'",
                              "color LIKE 'r_d'",
                              "color LIKE '%'",
                              "color NOT LIKE 'R%'",
                              "name LIKE 'Zo_'",
                              "color LIKE 'red%%%'",
                              "'' LIKE ''",
                              "'' LIKE '%'",
                              "'aXbXc' LIKE '%X_'",
                              "[100%_sure] LIKE '50!%!_off' ESCAPE '!'",
                              "'50x_off' NOT LIKE '50!%!_off' ESCAPE '!'",
                              "'a!' LIKE 'a!' ESCAPE '!'",
                              "color LIKE 'r' + '%'",
                              "missing IS NULL",
                              "nothing IS NULL",
                              "color IS NOT NULL",
                              "sys.To IS NULL",
                              "sys.SessionId IS NOT NULL",
                              "EXISTS(color)",
                              "EXISTS ( nothing )",
                              "NOT EXISTS(missing)",
                              "exists(user.Color)",
                              "EXISTS(sys.Label)",
                              "NOT EXISTS(sys.To)",
                              "property('color') = 'red'",
                              "P('COL' + 'or') = 'red'",
                              "newid() <> newid()"}) {
        CAPTURE(holds);
        CHECK(ask(holds) == "true");
    }
    CHECK(ask("color LIKE 're'") == "false");
    CHECK(ask("color LIKE ''") == "false");
    CHECK(ask("name LIKE 'Zo__'") == "false");
    CHECK(ask("color IN ('blue')") == "false");
    CHECK(ask("count IS NULL") == "false");
}

TEST_CASE("SQL filter: names are found in any case, an exact match first") {
    const Message message{.properties = {{"Key", std::int64_t{1}}, {"key", std::int64_t{2}}}};
    const auto value = [&](const char* condition) {
        Work work{0};
        return evaluate(*parse_condition(condition).value(), message, work);
    };
    CHECK(value("key = 2") == Value{true});
    CHECK(value("Key = 1") == Value{true});
    CHECK(value("KEY = 1") == Value{true});
}

TEST_CASE("SQL filter: an invalid condition is rejected with its position") {
    const std::pair<const char*, const char*> wrong[] = {
        {"", "expected a value or the name of a property at position 1"},
        {"color =", "expected a value or the name of a property at position 8"},
        {"color = 'red", "unterminated text at position 9"},
        {"[color = 1", "unterminated name at position 1"},
        {"[] = 1", "an empty name at position 1"},
        {"color = @p", "rules over AMQP have no values for them, at position 9"},
        {"color ? 1", "an unexpected character at position 7"},
        {"color = 1 color = 2", "expected the end at position 11"},
        {"(color = 1", "expected ')'"},
        {"5", "expected a condition, found a value at position 1"},
        {"1 + 2 AND 1=1", "expected a condition, found a value at position 1"},
        {"NOT 'a'", "expected a condition"},
        {"(1=1) = (1=1)", "expected a value, found a condition at position 1"},
        {"color = (1=1)", "expected a value, found a condition at position 9"},
        {"1 IS NULL", "requires a property at position 1"},
        {"color IS 5", "expected NULL"},
        {"color NOT 5", "expected IN or LIKE"},
        {"color LIKE 'a' ESCAPE 'ab'", "must be one character at position 23"},
        {"color LIKE 'a' ESCAPE 5", "must be one character"},
        {"sys.Sequence = 1",
         "sys.Sequence is not supported; use one of ContentType, CorrelationId, Label"},
        {"other.Color = 1", "unknown scope 'other'"},
        {"select = select(1)", "unknown function 'select'"},
        {"in = 1", "expected a value or the name of a property at position 1"},
        {"_a = 1", "an unexpected character"},
        {"5x = 1", "a number followed by a letter"},
        {"99999999999999999999 = 1", "out of range at position 1"},
        {"1e999 = 1", "out of range"},
        {"count IN ()", "expected a value"},
    };
    for (const auto& [condition, complaint] : wrong) {
        CAPTURE(condition);
        const std::string answer = ask(condition);
        CAPTURE(answer);
        CHECK(answer.find(complaint) != std::string::npos);
    }
    const auto within = [](int count, char left, const std::string& inner, const char* right) {
        std::string text;
        for (int i = 0; i < count; ++i) {
            text += left;
        }
        text += inner;
        for (int i = 0; i < count; ++i) {
            text += right;
        }
        return text;
    };
    CHECK(ask(within(1000, ' ', "1=1", "").c_str()) == "true");
    CHECK(ask(within(1025, ' ', "1=1", "").c_str()).find("at most 1024") != std::string::npos);
    CHECK(ask((within(101, '(', "1", ")") + " = 1").c_str()).find("deeper than 100 levels") !=
          std::string::npos);
    CHECK(ask((within(100, '(', "1", ")") + " = 1").c_str()) == "true");
    CHECK(ask(within(101, '-', "1 = 1", "").c_str()).find("deeper than 100 levels") !=
          std::string::npos);
}

TEST_CASE("SQL action: statements may be separated by a comma, a semicolon or nothing") {
    CHECK(parse_action("SET a = 1").value().size() == 1);
    CHECK(parse_action("SET a = 1; remove sys.To, SET [b c] = a + 1 SET d = newid();")
              .value()
              .size() == 4);
    for (const char* wrong :
         {"", "SET", "SET a", "SET a = ", "SET a = 1 = 1", "REMOVE", "SET sys.SequenceNumber = 1",
          "DELETE a", "a = 1", "REMOVE a b", ";"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_action(wrong).ok());
    }
}

TEST_CASE("SQL filter: a name begins with any letter and goes on with letters and digits") {
    const Message message{.properties = {{"a0", std::int64_t{1}},
                                         {"z9", std::int64_t{1}},
                                         {"A1", std::int64_t{1}},
                                         {"Zz", std::int64_t{1}}}};
    for (const char* condition : {"a0 = 1", "z9 = 1", "A1 = 1", "Zz = 1"}) {
        CAPTURE(condition);
        const auto parsed = parse_condition(condition);
        REQUIRE(parsed.ok());
        Work work{0};
        CHECK(evaluate(*parsed.value(), message, work) == Value{true});
    }
}

TEST_CASE("SQL filter: an exponent has a sign or none") {
    CHECK(ask("count = 1e1") == "true");
    CHECK(ask("count = 1e+1") == "true");
    CHECK(ask("count = 100e-1") == "true");
}
