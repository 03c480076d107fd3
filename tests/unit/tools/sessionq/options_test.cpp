// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/options.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono;

namespace {

constexpr const char* secret = "Endpoint=sb://h;SharedAccessKey=hush";

CommandLine parsed(std::vector<const char*> arguments, const std::string& environment = "from") {
    arguments.insert(arguments.begin(), "sessionq");
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data(), environment);
}

template <typename Options>
Options options(std::vector<const char*> arguments) {
    return std::get<Options>(parsed(std::move(arguments)).command);
}

std::string complaint(std::vector<const char*> arguments) {
    try {
        static_cast<void>(parsed(std::move(arguments)));
    } catch (const UsageError& error) {
        CHECK(std::string_view{error.what()}.find("hush") == std::string_view::npos);
        return error.what();
    }
    return {};
}

std::string text_of(std::vector<const char*> arguments) {
    return options<Text>(std::move(arguments)).text;
}

} // namespace

TEST_CASE("sessionq options: --connection and the others stand anywhere") {
    CHECK(parsed({"peek", "orders"}).shared.connection == "from");
    CHECK(parsed({"--connection", "c", "peek", "orders"}).shared.connection == "c");
    CHECK(parsed({"peek", "--connection", "c", "orders"}).shared.connection == "c");
    CHECK(parsed({"peek", "orders", "--connection=c"}).shared.connection == "c");
    CHECK(parsed({"state", "get", "orders", "--session", "a", "--connection", "c"})
              .shared.connection == "c");
    CHECK(parsed({"send", "orders", "body", "--json"}).shared.json);
    CHECK(options<PeekOptions>({"peek", "--connection", "c", "orders"}).entity == "orders");
    CHECK_THROWS_AS(static_cast<void>(parsed({"peek", "orders"}, "")), UsageError);
    CHECK_FALSE(std::get<Text>(parsed({"man"}, "").command).text.empty());
}

TEST_CASE("sessionq options: --proxy is a URL, whose password no error tells") {
    const auto proxy = parsed({"peek", "orders", "--proxy", "http://u:p@h:3128"}).shared.proxy;
    CHECK(proxy == HttpProxy{.host = "h", .port = 3128, .user = "u", .password = "p"});
    CHECK_FALSE(parsed({"peek", "orders"}).shared.proxy);
    CHECK(complaint({"peek", "orders", "--proxy", "https://u:hush@h"}).starts_with("--proxy: "));
}

TEST_CASE("sessionq options: a count is a number that fits") {
    CHECK(options<PeekOptions>({"peek", "orders", "--count", "4294967295"}).count == 4294967295);
    for (const char* bad : {"-1", "", "1.5", "4294967296", "7x", " 7"}) {
        CAPTURE(bad);
        for (const char* command : {"receive", "defer", "peek"}) {
            CHECK(complaint({command, "orders", "--count", bad}).starts_with("--count: '"));
        }
        CHECK(complaint({"dead-letters", "list", "orders", "--count", bad})
                  .starts_with("--count: '"));
        CHECK(complaint({"dead-letters", "redrive", "orders", "--limit", bad})
                  .starts_with("--limit: '"));
    }
}

TEST_CASE("sessionq options: every text arrives unchanged") {
    const auto sent = options<SendOptions>({"send", "orders", "[1,2]", "", "{}", "[]", "[x", "\x01",
                                            "receive", "--session", "[a,b]", "--", "-5", "--x="});
    CHECK(sent.input.bodies ==
          std::vector<std::string>{"[1,2]", "", "{}", "[]", "[x", "\x01", "receive", "-5", "--x="});
    CHECK(sent.input.pattern.session_id == "[a,b]");
    CHECK(options<SendOptions>({"send", "orders", "--session=", "b"}).input.pattern.session_id ==
          "");
    CHECK(options<SendOptions>({"send", "orders", "--session", "", "b"}).input.pattern.session_id ==
          "");
    CHECK(options<SetStateOptions>({"state", "set", "orders", "--session", "a", "[1]"}).text ==
          "[1]");
}

TEST_CASE("sessionq options: what send says of its messages") {
    const auto made = options<SendOptions>({"send",
                                            "orders",
                                            "--id",
                                            "m",
                                            "--correlation-id",
                                            "c",
                                            "--subject",
                                            "s",
                                            "--content-type",
                                            "t",
                                            "--reply-to",
                                            "r",
                                            "--reply-to-session",
                                            "rs",
                                            "--to",
                                            "to",
                                            "--time-to-live",
                                            "2m",
                                            "--priority",
                                            "7",
                                            "--property",
                                            "a=[1,2]",
                                            "--property",
                                            "n:int=5",
                                            "--delay",
                                            "1d",
                                            "body"});
    const Message& pattern = made.input.pattern;
    CHECK(made.entity == "orders");
    CHECK(made.input.bodies == std::vector<std::string>{"body"});
    CHECK(made.input.delay == 24h);
    CHECK(pattern.message_id == "m");
    CHECK(pattern.correlation_id == "c");
    CHECK(pattern.subject == "s");
    CHECK(pattern.content_type == "t");
    CHECK(pattern.reply_to == "r");
    CHECK(pattern.reply_to_session_id == "rs");
    CHECK(pattern.to == "to");
    CHECK(pattern.time_to_live == 2min);
    CHECK(pattern.priority == 7);
    CHECK(pattern.properties == Properties{{"a", std::string{"[1,2]"}}, {"n", std::int64_t{5}}});
    CHECK_FALSE(pattern.session_id);
    const auto later = options<ScheduleOptions>(
        {"schedule", "orders", "--at", "1970-01-01T00:00:01Z", "--input", "json", "--file", "f"});
    CHECK(later.input.pattern.scheduled_enqueue_time == WallTime{} + 1s);
    CHECK(later.input.format == InputFormat::json);
    CHECK(later.input.file == "f");
}

TEST_CASE("sessionq options: receive, defer, cancel, purge") {
    const auto receive =
        options<ReceiveOptions>({"receive", "orders", "--session", "a", "--deferred", "5",
                                 "--deferred", "6", "--settle", "dead-letter", "--reason", "r"});
    CHECK(receive.deferred == std::vector<std::int64_t>{5, 6});
    CHECK(receive.settling == Settling::dead_letter);
    CHECK(receive.reason == "r");
    CHECK(receive.count == 0);
    const auto defer = options<ReceiveOptions>({"defer", "orders"});
    CHECK(defer.settling == Settling::defer);
    CHECK(defer.count == 1);
    CHECK(options<CancelOptions>({"cancel", "orders", "5", "6"}).numbers ==
          std::vector<std::int64_t>{5, 6});
    const auto purge = options<PurgeOptions>({"purge", "orders", "--yes"});
    CHECK(purge.entity == "orders");
    CHECK_FALSE(purge.before);
    CHECK(options<PurgeOptions>({"purge", "orders", "--before", "2h", "--yes"}).before ==
          TimeOrAge{Duration{2h}});
    CHECK(options<PurgeOptions>({"purge", "orders", "--before", "1970-01-01T00:00:01Z", "--yes"})
              .before == TimeOrAge{WallTime{1s}});
    const auto letters = options<PurgeDeadLettersOptions>(
        {"dead-letters", "purge", "orders", "--transfer", "--older-than", "7d", "--yes"});
    CHECK(letters.letters.transfer);
    CHECK(letters.filter.older_than == 7 * 24h);
    CHECK_FALSE(letters.filter.reason);
    const auto redrive = options<RedriveDeadLettersOptions>(
        {"dead-letters", "redrive", "orders", "--session", "a", "--reason", "r", "--limit", "5",
         "--wait", "3s", "--no-hold", "--through-topic", "--dry-run"});
    CHECK(redrive.entity == "orders");
    CHECK(redrive.count_only);
    CHECK(redrive.redrive.filter.session_id == "a");
    CHECK(redrive.redrive.filter.reason == "r");
    CHECK(redrive.redrive.max_messages == 5);
    CHECK(redrive.redrive.max_wait == 3s);
    CHECK_FALSE(redrive.redrive.hold_sessions);
    CHECK(redrive.redrive.through_topic);
    const auto plain = options<RedriveDeadLettersOptions>({"dead-letters", "redrive", "orders"});
    CHECK(plain.redrive.hold_sessions);
    CHECK_FALSE(plain.redrive.through_topic);
    CHECK(complaint({"dead-letters", "purge", "orders"}).find("--yes") != std::string::npos);
    CHECK(complaint({"dead-leters", "list", "orders"}) ==
          "unknown command 'dead-leters'; did you mean 'dead-letters'?");
    CHECK(complaint({"purge", "orders"}).find("--yes") != std::string::npos);
}

TEST_CASE("sessionq options: unknown words are named with the nearest right one") {
    CHECK(complaint({"recieve", "orders"}) == "unknown command 'recieve'; did you mean 'receive'?");
    CHECK(complaint({"frobnicate"}).starts_with("unknown command 'frobnicate'; expected send, "));
    CHECK(complaint({"state", "gte", "orders"}) ==
          "state: unknown command 'gte'; did you mean 'get'?");
    CHECK(complaint({}).starts_with("a command is missing; expected send, "));
    CHECK(complaint({"state"}) == "state: a command is missing; expected get, set, clear");
    CHECK(complaint({"state", "orders", "--session", "a"}) ==
          "state: unknown command 'orders'; expected get, set, clear");
    CHECK(complaint({"peek", "orders", "--sesion", "a"}) ==
          "--sesion: no such option; did you mean '--session'?");
    CHECK(complaint({"peek", "orders", "--frobnicate"}) == "--frobnicate: no such option");
    CHECK(complaint({"peek", "orders", "more"}) == "there are more arguments than expected");
    CHECK(complaint({"completion", "bsah"}) ==
          "SHELL: 'bsah' is not one of bash, zsh, fish; did you mean 'bash'?");
}

TEST_CASE("sessionq options: what stands behind a mistyped option is not repeated") {
    const std::string connection = "--conection: no such option; did you mean '--connection'?";
    for (const char* command :
         {"peek", "send", "cancel", "completion", "man", "purge", "receive"}) {
        CAPTURE(command);
        CHECK(complaint({command, "--conection", secret}).find(connection) == 0);
        CHECK(complaint({command, "x", "--conection", secret}).find(connection) == 0);
        CHECK(complaint({"--conection", secret, command}).find(connection) == 0);
    }
    CHECK(complaint({"--conection", secret}) == connection);
    CHECK(complaint({"--conection", "hush"}) == connection);
    CHECK(complaint({std::string{"--conection="}.append(secret).c_str(), "peek"}) == connection);
    CHECK(complaint({"peek", "orders", "-khush"}) == "-k: no such option");
    CHECK(complaint({secret}) == complaint({"Unknown"}));
    CHECK(complaint({"state", "get", "orders", "--conection", secret}) == connection);
    CHECK(complaint({"state", "--session", "hush"}) ==
          "state: unknown command; expected get, set, clear");
}

TEST_CASE("sessionq options: values out of range are named") {
    CHECK(complaint({"receive", "orders", "--wait", "soon"}).starts_with("--wait: 'soon' is not"));
    for (const char* const when : {"soon", "9999d"}) {
        CHECK(complaint({"purge", "orders", "--before", when}).starts_with("--before: '"));
    }
    CHECK(complaint({"receive", "orders", "--wait", "25h"}).starts_with("--wait: '25h' is not"));
    CHECK(complaint({"send", "orders", "--priority", "256"}) ==
          "--priority: '256' is not 0 to 255");
    CHECK(complaint({"send", "orders", "--at", "noon"}).starts_with("--at: 'noon' is not a time"));
    CHECK(complaint({"send", "orders", "--time-to-live", "0"}).starts_with("--time-to-live: '0'"));
    CHECK(complaint({"peek", "orders", "--from", "-1"}) == "--from: '-1' is not a sequence number");
    CHECK(complaint({"send", "orders", "--input", "jsno"}).find("did you mean 'json'") !=
          std::string::npos);
    for (const std::vector<const char*>& wrong : std::vector<std::vector<const char*>>{
             {"send", "orders", "--at", "2026-01-31T12:00:00Z", "--delay", "1s"},
             {"send", "orders", "--file", "f", "body"},
             {"cancel", "orders"},
             {"cancel", "orders", "five"},
             {"state", "get", "orders"},
             {"peek"}}) {
        CHECK_FALSE(complaint(wrong).empty());
    }
}

TEST_CASE("sessionq options: help is that of the command") {
    CHECK(text_of({"--help"}).find("Exit status:") != std::string::npos);
    CHECK(text_of({"peek", "--help"}).find("--follow") != std::string::npos);
    CHECK(text_of({"state", "set", "--help"}).find("TEXT") != std::string::npos);
    CHECK(text_of({"send", "--help"}).find("body_base64") != std::string::npos);
}

TEST_CASE("sessionq options: doctor needs no entity, and bounds its timeout") {
    const auto plain = options<DoctorOptions>({"doctor"});
    CHECK(plain.entity.empty());
    CHECK(plain.purpose == DoctorPurpose::receiving);
    CHECK(plain.timeout == seconds{10});
    const auto given = options<DoctorOptions>(
        {"doctor", "--entity", "orders", "--for", "sending", "--timeout", "100ms"});
    CHECK(given.entity == "orders");
    CHECK(given.purpose == DoctorPurpose::sending);
    CHECK(given.timeout == milliseconds{100});
    CHECK(options<DoctorOptions>({"doctor", "--processor", "/run/s"}).processor == "/run/s");
    CHECK_NOTHROW(parsed({"doctor", "--processor", "/run/s"}, ""));
    CHECK_THROWS_AS(parsed({"doctor", "--processor", "/run/s", "--entity", "orders"}, ""),
                    UsageError); // the entity is at a broker
    CHECK_THROWS_AS(parsed({"doctor"}, ""), UsageError);
    CHECK(complaint({"doctor", "--timeout", "99ms"}).starts_with("--timeout: "));
    CHECK(complaint({"doctor", "--timeout", "11m"}).starts_with("--timeout: "));
    CHECK(complaint({"doctor", "--for", "fun"}).find("receiving") != std::string::npos);
    CHECK(text_of({"doctor", "--help"}).find("1   a check failed") != std::string::npos);
}
