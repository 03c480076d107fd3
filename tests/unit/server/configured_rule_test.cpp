// SPDX-License-Identifier: MIT
#include "server/configured_rule.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sessionq;

namespace {

Rule read(const std::string& json) {
    const auto document = server::JsonNode::parse(json);
    return server::read_configured_rule({document, "Rules[0]"});
}

std::string complaint(const std::string& json) {
    try {
        static_cast<void>(read(json));
        return {};
    } catch (const Error& error) {
        CHECK(error.failure().code == Errc::invalid_option);
        return error.failure().detail;
    }
}

} // namespace

TEST_CASE("configured rule: a rule without properties matches every message") {
    CHECK(read(R"({"Name": "all"})") == Rule{.name = "all"});
}

TEST_CASE("configured rule: reads a SQL filter and an action") {
    const Rule rule = read(
        R"({"Name": "gold", "Properties": {"FilterType": "Sql",
                               "SqlFilter": {"SqlExpression": "tier = 'gold'"},
                               "Action": {"SqlExpression": "SET sys.To = 'vault'"}}})");
    CHECK(rule == Rule{.name = "gold",
                       .filter = SqlFilter{"tier = 'gold'"},
                       .action = "SET sys.To = 'vault'"});
}

TEST_CASE("configured rule: a correlation filter's properties keep their types") {
    const Rule rule =
        read(R"({"Name": "b", "Properties": {"FilterType": "Correlation", "CorrelationFilter":
                               {"Label": "order",
                                "Properties": {"n": 7, "x": 0.5, "on": true, "s": "7"}}}})");
    const auto& filter = std::get<CorrelationFilter>(rule.filter);
    CHECK(filter.subject == "order");
    CHECK(filter.properties ==
          Properties{{"n", std::int64_t{7}}, {"on", true}, {"s", std::string{"7"}}, {"x", 0.5}});
}

TEST_CASE("configured rule: an error names the path") {
    CHECK(complaint(R"({})") == "Rules[0].Name: required, but missing");
    CHECK(complaint(R"({"Name": ""})") == "Rules[0].Name: must not be empty");
    CHECK(complaint(R"({"Name": "a", "Properties": {"FilterType": "XPath"}})") ==
          "Rules[0].Properties.FilterType: expected \"Correlation\" or \"Sql\"");
    CHECK(complaint(
              R"({"Name": "a", "Properties": {"FilterType": "Sql",
                                "SqlFilter": {"SqlExpression": "a ="}}})")
              .starts_with("Rules[0]: rule 'a': "));
    CHECK(
        complaint(
            R"({"Name": "a", "Properties": {"FilterType": "Correlation",
                                "CorrelationFilter": {"Properties": {"p": null}}}})") ==
        "Rules[0].Properties.CorrelationFilter.Properties.p: expected a string, a number, true or "
        "false");
}
