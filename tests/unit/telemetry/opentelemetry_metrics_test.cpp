// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdint>
#include <latch>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>
#include <opentelemetry/sdk/metrics/metric_reader.h>

#include <sessionq/logging.hpp>
#include <sessionq/opentelemetry.hpp>
#include <sessionq/sessionq.hpp>

using namespace sessionq;

namespace {

namespace sdk = opentelemetry::sdk;
namespace nostd = opentelemetry::nostd;

/// Collects when it is asked to.
class Reader final : public sdk::metrics::MetricReader {
public:
    sdk::metrics::AggregationTemporality GetAggregationTemporality(
        sdk::metrics::InstrumentType /*type*/) const noexcept override {
        return sdk::metrics::AggregationTemporality::kCumulative;
    }
    bool read() {
        return Collect([this](sdk::metrics::ResourceMetrics& metrics) {
            last = metrics;
            return true;
        });
    }
    const sdk::metrics::MetricData* find(const std::string& name) const {
        for (const auto& each : last.scope_metric_data_.at(0).metric_data_) {
            if (each.instrument_descriptor.name_ == name) {
                return &each;
            }
        }
        return nullptr;
    }

    sdk::metrics::ResourceMetrics last{};

private:
    bool OnForceFlush(std::chrono::microseconds /*timeout*/) noexcept override { return true; }
    bool OnShutDown(std::chrono::microseconds /*timeout*/) noexcept override { return true; }
};

} // namespace

TEST_CASE("OpenTelemetry metrics: a reader collects those of a processor and its client") {
    LocalBroker broker;
    broker.create_queue("orders");
    const auto client = Client::in_process(broker);
    Sender{client, "orders"}.send(Message::of("order").in_session("ada"));
    SessionProcessor orders{client, "orders"};
    std::latch handled{1};
    orders.on_message([&](MessageContext&) { handled.count_down(); });
    OpenTelemetryMetrics metrics{[&] {
                                     Metrics all = orders.metrics();
                                     all += client.metrics();
                                     return all;
                                 },
                                 sdk::resource::Resource::Create({{"service.name", "shop"}})};
    Reader reader;
    reader.SetMetricProducer(&metrics);
    orders.start();
    handled.wait();
    orders.stop();

    REQUIRE(reader.read());
    const auto& resource = reader.last.resource_->GetAttributes();
    CHECK(nostd::get<std::string>(resource.at("service.name")) == "shop");
    REQUIRE(reader.last.scope_metric_data_.size() == 1);
    CHECK(reader.last.scope_metric_data_[0].scope_->GetName() == "sessionq");
    CHECK(reader.last.scope_metric_data_[0].scope_->GetVersion() == std::string{version().text});
    const auto* took = reader.find("messaging.process.duration");
    REQUIRE(took != nullptr);
    const auto& point = took->point_data_attr_.at(0);
    CHECK(nostd::get<sdk::metrics::HistogramPointData>(point.point_data).count_ == 1);
    CHECK(nostd::get<std::string>(point.attributes.at("messaging.destination.name")) == "orders");
    const auto* sent = reader.find("messaging.client.sent.messages");
    REQUIRE(sent != nullptr);
    const auto& sum =
        nostd::get<sdk::metrics::SumPointData>(sent->point_data_attr_.at(0).point_data);
    CHECK(nostd::get<std::int64_t>(sum.value_) == 1);
    CHECK(sent->start_ts.time_since_epoch() <= sent->end_ts.time_since_epoch());
    CHECK(sent->start_ts.time_since_epoch().count() > 0);
}

TEST_CASE("OpenTelemetry metrics: a source that throws fails one collection") {
    bool fails = true;
    OpenTelemetryMetrics metrics{[&] {
        if (fails) {
            throw std::runtime_error{"closed"};
        }
        Metrics some;
        some.add({.name = "sessionq.one", .points = {{.value = 1}}});
        return some;
    }};
    Reader reader;
    reader.SetMetricProducer(&metrics);
    std::string logged;
    set_log_sink([&logged](const LogRecord& record) { logged = record.text; });
    CHECK_FALSE(reader.read());
    set_log_sink({});
    CHECK(logged == "the source of metrics threw an exception; nothing was exported");
    CHECK(reader.last.resource_ != nullptr); // which exporters rely on
    CHECK(reader.last.scope_metric_data_.empty());
    fails = false;
    CHECK(reader.read());
    CHECK(reader.find("sessionq.one") != nullptr);
}
