// SPDX-License-Identifier: MIT
#include <sessionq/processor_report.hpp>

#include <doctest/doctest.h>

#include <set>

#include <nlohmann/json.hpp>

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

ProcessorDescription sample_description() {
    ProcessorDescription description;
    description.state = ProcessorDescription::State::running;
    description.entities = {"orders"};
    description.health = {.state = Health::State::degraded,
                          .reasons = {{.cause = HealthCause::workers_busy,
                                       .entity = "orders",
                                       .session_id = "ada",
                                       .detail = "no worker is free",
                                       .count = 2,
                                       .since = 12'500ms}}};
    description.executor = {.waiting = 2, .running = 3};
    description.buffered_bytes = 4'096;
    description.counters.messages_handled = 7;
    description.counters.longest_ready_wait = 250ms;
    description.slots = {{.entity = "orders",
                          .session_id = "ada",
                          .state = "open",
                          .waits_for = "a worker",
                          .since = 1'500ms,
                          .window = 32,
                          .in_flight = 3,
                          .running = 0,
                          .ready_for = 1s},
                         {.entity = "orders", .state = "accepting", .waits_for = "a session"}};
    description.parked = {{.entity = "orders", .session_id = "bob", .state = "parked"}};
    return description;
}

} // namespace

TEST_CASE("processor description: as a table it has a row for each slot and session") {
    CHECK(sample_description().to_string() ==
          "running, 4096 bytes buffered, degraded\n"
          "workers_busy at 'orders': no worker is free (for 12 s; 2 of them). " +
              std::string{advice(HealthCause::workers_busy)} +
              "\n"
              "messages: 7 handled, 0 failed, 0 completed, 0 dead-lettered, 0 abandoned, 0 "
              "released, 0 expired, 0 lost\n"
              "sessions: 0 opened, 0 closed, 0 parked, 0 locks lost, 0 empty accepts, 0 failed "
              "accepts\n"
              "executor: 3 works run, 2 wait\n"
              "slot  state      session  entity  in flight  running  window  since  waits for\n"
              "0     open       'ada'    orders  3          0        32      1.5 s  a worker\n"
              "1     accepting  -        orders  0          0        0       0.0 s  a session\n"
              "-     parked     'bob'    orders  0          0        0       0.0 s  nothing\n");
}

TEST_CASE(
    "processor description: the table has a head if there is one row, and is left out if there "
    "is none") {
    ProcessorDescription description = sample_description();
    description.slots.resize(1);
    description.parked.clear();
    CHECK(description.to_string().find("slot  state") != std::string::npos);
    description.slots.clear();
    CHECK(description.to_string().find("slot  state") == std::string::npos);
}

TEST_CASE("processor description: a session's id cannot write to the terminal") {
    ProcessorDescription description = sample_description();
    description.slots[0].session_id = "\x1b[2J\nx";
    CHECK(description.to_string().find("'?[2J?x'") != std::string::npos);
}

TEST_CASE("processor description: as JSON it is one line with every member") {
    const std::string line = sample_description().to_json();
    CHECK(line.find('\n') == std::string::npos);
    const auto json = nlohmann::json::parse(line);
    CHECK(json.at("state") == "running");
    CHECK(json.at("entities") == nlohmann::json{"orders"});
    CHECK(json.at("health").at("state") == "degraded");
    CHECK(json.at("health").at("reasons").at(0) ==
          nlohmann::json{{"cause", "workers_busy"},
                         {"entity", "orders"},
                         {"session_id", "ada"},
                         {"detail", "no worker is free"},
                         {"count", 2},
                         {"since", 12.5},
                         {"advice", advice(HealthCause::workers_busy)}});
    CHECK(json.at("executor") == nlohmann::json{{"waiting", 2}, {"running", 3}});
    CHECK(nlohmann::json::parse(ProcessorDescription{}.to_json()).at("executor").is_null());
    CHECK(json.at("buffered_bytes") == 4'096);
    CHECK(json.at("counters").at("messages_handled") == 7);
    CHECK(json.at("counters").at("longest_ready_wait") == 0.25);
    CHECK(json.at("slots").size() == 2);
    CHECK(json.at("slots").at(0) == nlohmann::json{{"entity", "orders"},
                                                   {"session_id", "ada"},
                                                   {"state", "open"},
                                                   {"waits_for", "a worker"},
                                                   {"since", 1.5},
                                                   {"window", 32},
                                                   {"in_flight", 3},
                                                   {"running", 0},
                                                   {"ready_for", 1.0}});
    CHECK(json.at("parked").at(0).at("session_id") == "bob");
    CHECK(json.at("settling").empty());
}

TEST_CASE("processor description: JSON has a value for each counter") {
    // Each member has a value of its own, so one that is missing or told twice shows.
    ProcessorCounters counters;
    constexpr std::size_t members =
        (sizeof counters - sizeof counters.longest_ready_wait) / sizeof(std::uint64_t);
    std::uint64_t value = 0;
    for (std::uint64_t* member = &counters.messages_received; value < members; ++member) {
        *member = ++value;
    }
    ProcessorDescription description;
    description.counters = counters;
    const auto json = nlohmann::json::parse(description.to_json()).at("counters");
    std::set<std::uint64_t> values;
    for (const auto& [name, told] : json.items()) {
        if (name != "longest_ready_wait") {
            values.insert(told.get<std::uint64_t>());
        }
    }
    CHECK(json.size() == members + 1);
    CHECK(values.size() == members);
    CHECK(*values.rbegin() == members);
}

TEST_CASE("processor description: JSON has U+FFFD for bytes that are not UTF-8, and escapes what "
          "could write to a terminal") {
    ProcessorDescription description = sample_description();
    description.slots[0].session_id = "\xff\xc2\x9b";
    const std::string line = description.to_json();
    CHECK(line.find("\\u009b") != std::string::npos);
    CHECK(nlohmann::json::parse(line).at("slots").at(0).at("session_id") == "\xEF\xBF\xBD\xc2\x9b");
}
