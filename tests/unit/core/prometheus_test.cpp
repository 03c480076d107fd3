// SPDX-License-Identifier: MIT
#include <sessionq/metrics.hpp>

#include <limits>

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

std::string rendered(const Metric& metric) {
    Metrics metrics;
    metrics.add(metric);
    return to_prometheus(metrics);
}

} // namespace

TEST_CASE("prometheus: nothing is nothing") { CHECK(to_prometheus({}).empty()); }

TEST_CASE("prometheus: counters and gauges, byte for byte") {
    Metrics metrics;
    metrics.add({.name = "messaging.client.consumed.messages",
                 .description = "Messages that came.",
                 .unit = "{message}",
                 .kind = MetricKind::counter,
                 .points = {{.attributes = {{"messaging.system", "a"}, {"queue.name", "b"}},
                             .value = 12'345'678},
                            {.value = 9'007'199'254'740'992}}});
    metrics.add({.name = "sessionq.buffer.usage",
                 .description = "Bytes in a\\b,\nand \"more\".",
                 .unit = "By",
                 .kind = MetricKind::gauge,
                 .points = {{.value = 0}}});
    metrics.add({.name = "sessionq.session.ready.age",
                 .description = "Age.",
                 .unit = "s",
                 .kind = MetricKind::gauge,
                 .points = {{.value = 0.25}}});
    metrics.add({.name = "sessionq.network.io",
                 .description = "Bytes.",
                 .unit = "By",
                 .kind = MetricKind::counter,
                 .points = {}});
    CHECK(to_prometheus(metrics) ==
          R"(# HELP messaging_client_consumed_messages_total Messages that came.
# TYPE messaging_client_consumed_messages_total counter
messaging_client_consumed_messages_total{messaging_system="a",queue_name="b"} 12345678
messaging_client_consumed_messages_total 9007199254740992
# HELP sessionq_buffer_usage_bytes Bytes in a\\b,\nand "more".
# TYPE sessionq_buffer_usage_bytes gauge
sessionq_buffer_usage_bytes 0
# HELP sessionq_session_ready_age_seconds Age.
# TYPE sessionq_session_ready_age_seconds gauge
sessionq_session_ready_age_seconds 0.25
# HELP sessionq_network_io_bytes_total Bytes.
# TYPE sessionq_network_io_bytes_total counter
)");
}

TEST_CASE("prometheus: label values are escaped, and valid UTF-8") {
    CHECK(rendered({.name = "a.b-c",
                    .description = "D.",
                    .unit = "{x}",
                    .kind = MetricKind::gauge,
                    .points = {{.attributes = {{"0.key", "q\"u\\o\nte \xC3\xA9 \xFF!"}},
                                .value = -1.5}}}) ==
          "# HELP a_b_c D.\n# TYPE a_b_c gauge\n"
          "a_b_c{_0_key=\"q\\\"u\\\\o\\nte \xC3\xA9 \xEF\xBF\xBD!\"} -1.5\n");
}

TEST_CASE("prometheus: very large and very small numbers") {
    const auto text = rendered({.name = "a",
                                .kind = MetricKind::gauge,
                                .points = {{.attributes = {{"k", "1"}}, .value = 1e300},
                                           {.attributes = {{"k", "2"}}, .value = 1e-300},
                                           {.attributes = {{"k", "3"}}, .value = 0.1 + 0.2}}});
    CHECK(text == "# HELP a \n# TYPE a gauge\na{k=\"1\"} 1e+300\na{k=\"2\"} 1e-300\n"
                  "a{k=\"3\"} 0.30000000000000004\n");
}

TEST_CASE("prometheus: numbers that are none") {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const auto text =
        rendered({.name = "a",
                  .kind = MetricKind::gauge,
                  .points = {{.attributes = {{"k", "1"}}, .value = infinite},
                             {.attributes = {{"k", "2"}}, .value = -infinite},
                             {.attributes = {{"k", "3"}}, .value = -(infinite * 0)}}});
    CHECK(text == "# HELP a \n# TYPE a gauge\na{k=\"1\"} +Inf\na{k=\"2\"} -Inf\na{k=\"3\"} NaN\n");
}

TEST_CASE("prometheus: a histogram, byte for byte") {
    Metric took{.name = "messaging.process.duration",
                .description = "Handlers.",
                .unit = "s",
                .kind = MetricKind::histogram,
                .points = {{.attributes = {{"k", "v"}}}}};
    for (const Duration each : {Duration{500ns}, Duration{2ms}, Duration{2ms}, Duration{2h}}) {
        took.points.front().histogram.add(each);
    }
    CHECK(rendered(took) == R"(# HELP messaging_process_duration_seconds Handlers.
# TYPE messaging_process_duration_seconds histogram
messaging_process_duration_seconds_bucket{k="v",le="0.000001"} 1
messaging_process_duration_seconds_bucket{k="v",le="0.00001"} 1
messaging_process_duration_seconds_bucket{k="v",le="0.0001"} 1
messaging_process_duration_seconds_bucket{k="v",le="0.00025"} 1
messaging_process_duration_seconds_bucket{k="v",le="0.0005"} 1
messaging_process_duration_seconds_bucket{k="v",le="0.001"} 1
messaging_process_duration_seconds_bucket{k="v",le="0.0025"} 3
messaging_process_duration_seconds_bucket{k="v",le="0.005"} 3
messaging_process_duration_seconds_bucket{k="v",le="0.01"} 3
messaging_process_duration_seconds_bucket{k="v",le="0.025"} 3
messaging_process_duration_seconds_bucket{k="v",le="0.05"} 3
messaging_process_duration_seconds_bucket{k="v",le="0.075"} 3
messaging_process_duration_seconds_bucket{k="v",le="0.1"} 3
messaging_process_duration_seconds_bucket{k="v",le="0.25"} 3
messaging_process_duration_seconds_bucket{k="v",le="0.5"} 3
messaging_process_duration_seconds_bucket{k="v",le="0.75"} 3
messaging_process_duration_seconds_bucket{k="v",le="1"} 3
messaging_process_duration_seconds_bucket{k="v",le="2.5"} 3
messaging_process_duration_seconds_bucket{k="v",le="5"} 3
messaging_process_duration_seconds_bucket{k="v",le="7.5"} 3
messaging_process_duration_seconds_bucket{k="v",le="10"} 3
messaging_process_duration_seconds_bucket{k="v",le="30"} 3
messaging_process_duration_seconds_bucket{k="v",le="60"} 3
messaging_process_duration_seconds_bucket{k="v",le="300"} 3
messaging_process_duration_seconds_bucket{k="v",le="1800"} 3
messaging_process_duration_seconds_bucket{k="v",le="3600"} 3
messaging_process_duration_seconds_bucket{k="v",le="+Inf"} 4
messaging_process_duration_seconds_sum{k="v"} 7200.0040005
messaging_process_duration_seconds_count{k="v"} 4
)");
}

TEST_CASE("prometheus: a histogram without a label or a length") {
    const auto text = rendered(
        {.name = "a", .unit = "s", .kind = MetricKind::histogram, .points = {MetricPoint{}}});
    CHECK(text.find("a_seconds_bucket{le=\"0.000001\"} 0\n") != std::string::npos);
    CHECK(text.find("a_seconds_bucket{le=\"+Inf\"} 0\na_seconds_sum 0\na_seconds_count 0\n") !=
          std::string::npos);
}
