#include "broker/filter/compiled_rule.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace sessionq::broker::filter;

namespace {

Message message() {
    return {.body = "body",
            .session_id = "s",
            .message_id = "m",
            .subject = "label",
            .correlation_id = "c",
            .reply_to = "r",
            .reply_to_session_id = "rs",
            .to = "t",
            .content_type = "ct",
            .properties = {{"Count", std::int64_t{7}}, {"kind", std::string{"a"}}}};
}

bool takes(Filter filter) {
    return CompiledRule::make({.name = "r", .filter = std::move(filter)})
        .value()
        .matches(message());
}

Message after(std::string action) {
    const DecodedContent content{message()};
    return CompiledRule::make({.name = "r", .action = std::move(action)})
        .value()
        .apply(content, *content.outline())
        ->message();
}

std::string complaint(Rule rule) {
    const auto made = CompiledRule::make(std::move(rule));
    return made ? std::string{} : made.failure().detail;
}

} // namespace

TEST_CASE("rule: true and false filters do not read the message") {
    CHECK(takes(TrueFilter{}));
    CHECK_FALSE(takes(FalseFilter{}));
    CHECK_FALSE(CompiledRule::make({.name = "r"}).value().reads_messages());
    CHECK(CompiledRule::make({.name = "r", .filter = SqlFilter{"1=1"}}).value().reads_messages());
}

TEST_CASE("rule: a correlation filter requires each value that it names, exactly") {
    const CorrelationFilter all{
        .content_type = "ct",
        .correlation_id = "c",
        .message_id = "m",
        .reply_to = "r",
        .reply_to_session_id = "rs",
        .session_id = "s",
        .subject = "label",
        .to = "t",
        .properties = {{"Count", std::int64_t{7}}, {"kind", std::string{"a"}}}};
    CHECK(takes(all));
    CHECK(takes(CorrelationFilter{}));
    for (auto member : {&CorrelationFilter::content_type, &CorrelationFilter::correlation_id,
                        &CorrelationFilter::message_id, &CorrelationFilter::reply_to,
                        &CorrelationFilter::reply_to_session_id, &CorrelationFilter::session_id,
                        &CorrelationFilter::subject, &CorrelationFilter::to}) {
        CorrelationFilter other = all;
        other.*member = "other";
        CHECK_FALSE(takes(other));
    }
    CHECK_FALSE(takes(CorrelationFilter{.subject = "Label"}));
    CHECK(takes(CorrelationFilter{.properties = {{"count", 7.0}}}));
    CHECK_FALSE(takes(CorrelationFilter{.properties = {{"count", std::string{"7"}}}}));
    CHECK_FALSE(takes(CorrelationFilter{.properties = {{"missing", {}}}}));
}

TEST_CASE("rule: a SQL filter matches if it is true, not if it is unknown") {
    CHECK(takes(SqlFilter{"count = 7 AND sys.Label = 'label'"}));
    CHECK_FALSE(takes(SqlFilter{"missing = 7"}));
    CHECK_FALSE(takes(SqlFilter{"NOT missing = 7"}));
}

TEST_CASE("rule: an action's statements see earlier changes, and nothing else changes") {
    const Message set = after("SET count = count / 2; SET twice = count * 2; SET sys.Label = kind "
                              "+ '!', SET sys.To = count SET none = missing");
    CHECK(set.properties == Properties{{"Count", std::int64_t{3}},
                                       {"RuleName", std::string{"r"}},
                                       {"kind", std::string{"a"}},
                                       {"none", {}},
                                       {"twice", std::int64_t{6}}});
    CHECK(set.subject == "a!");
    CHECK(set.to == "3");
    CHECK(set.body == "body");
    CHECK(set.session_id == "s");
    const Message removed = after("REMOVE COUNT; SET kind = 'b'; REMOVE kind; REMOVE missing; "
                                  "REMOVE sys.SessionId; REMOVE sys.ReplyTo; SET sys.To = NULL");
    CHECK(removed.properties == Properties{{"RuleName", std::string{"r"}}});
    CHECK_FALSE(removed.session_id);
    CHECK(removed.reply_to.empty());
    CHECK(removed.to.empty());
    CHECK(removed.correlation_id == "c");
    CHECK(after("REMOVE kind; SET kind = 'b'").properties.at("kind") ==
          PropertyValue{std::string{"b"}});
}

TEST_CASE("rule: an error names the rule and its wrong part") {
    CHECK(complaint({.name = ""}).find("name") != std::string::npos);
    CHECK(complaint({.name = std::string(51, 'x')}).find("1 to 50") != std::string::npos);
    CHECK(complaint({.name = "r", .filter = SqlFilter{"a ="}}).find("rule 'r': filter: ") == 0);
    CHECK(complaint({.name = "r", .action = "SET"}).find("rule 'r': action: ") == 0);
}
