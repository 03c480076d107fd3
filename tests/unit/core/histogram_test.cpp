// SPDX-License-Identifier: MIT
#include <sessionq/histogram.hpp>

#include <cmath>
#include <thread>

#include <doctest/doctest.h>

#include "core/histogram_buckets.hpp"
#include "core/histogram_recorder.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using core::HistogramBuckets;
using core::HistogramRecorder;

TEST_CASE("histogram: buckets follow one another and hold what is filed in them") {
    for (std::size_t i = 0; i < HistogramBuckets::count; ++i) {
        REQUIRE(HistogramBuckets::index(HistogramBuckets::lower(i)) == i);
        REQUIRE(HistogramBuckets::index(HistogramBuckets::upper(i)) == i);
        REQUIRE(HistogramBuckets::lower(i + 1) == HistogramBuckets::upper(i) + 1ns);
    }
    CHECK(HistogramBuckets::lower(0) == 0ns);
    CHECK(HistogramBuckets::upper(HistogramBuckets::count - 1) > 19h);
    CHECK(HistogramBuckets::index(Duration::max()) == HistogramBuckets::count - 1);
    CHECK(HistogramBuckets::index(-1ns) == 0);
}

TEST_CASE("histogram: the middle of a bucket is within the relative error of all in it") {
    for (std::size_t i = 0; i < HistogramBuckets::count; ++i) {
        const auto middle = static_cast<double>(HistogramBuckets::middle(i).count());
        for (const Duration length : {HistogramBuckets::lower(i), HistogramBuckets::upper(i)}) {
            const auto exact = static_cast<double>(length.count());
            REQUIRE(std::abs(middle - exact) <= exact * Histogram::relative_error);
        }
    }
}

TEST_CASE("histogram: without a length everything is zero") {
    const Histogram empty;
    CHECK(empty.count() == 0);
    CHECK(empty.sum().count() == 0);
    CHECK(empty.min() == 0ns);
    CHECK(empty.max() == 0ns);
    CHECK(empty.quantile(0.5) == 0ns);
    CHECK(empty.count_up_to(1h) == 0);
    CHECK(empty.buckets().empty());
}

TEST_CASE("histogram: count, sum, minimum and maximum are exact") {
    Histogram lengths;
    for (const Duration each : {Duration{3ms}, Duration{-5s}, Duration{100h}, Duration{1001ns}}) {
        lengths.add(each);
    }
    CHECK(lengths.count() == 4);
    CHECK(lengths.sum().count() == doctest::Approx(360'000.003001001));
    CHECK(lengths.min() == 0ns); // negative counts as zero
    CHECK(lengths.max() == 100h);
    CHECK(lengths.buckets().size() == 4);
    CHECK(lengths.buckets().front().count == 1);
}

TEST_CASE("histogram: quantiles of a thousand lengths") {
    Histogram lengths;
    for (int i = 1000; i >= 1; --i) {
        lengths.add(std::chrono::microseconds{i});
    }
    const auto near = [&](double rank, double microseconds) {
        const auto found = static_cast<double>(lengths.quantile(rank).count()) / 1000;
        return std::abs(found - microseconds) <= microseconds * Histogram::relative_error;
    };
    CHECK(near(0.5, 500));
    CHECK(near(0.9, 900));
    CHECK(near(0.99, 990));
    CHECK(lengths.quantile(0) == 1us);
    CHECK(lengths.quantile(-3) == 1us);
    CHECK(lengths.quantile(1) == 1000us);
    CHECK(lengths.quantile(7) == 1000us);
    CHECK(lengths.count_up_to(0ns) == 0);
    CHECK(lengths.count_up_to(1ms) == 1000);
    CHECK(std::abs(static_cast<double>(lengths.count_up_to(500us)) - 500) <= 500.0 / 64);
}

TEST_CASE("histogram: one of several equal lengths is each of them") {
    Histogram lengths;
    lengths.add(700us);
    lengths.add(700us);
    lengths.add(700us);
    CHECK(lengths.quantile(0.5) == 700us); // not the middle of its bucket
}

TEST_CASE("histogram: the second of three lengths") {
    Histogram lengths;
    for (const auto length : {1ms, 5ms, 9ms}) {
        lengths.add(length);
    }
    CHECK(lengths.quantile(0.3) == 1ms);
    CHECK(lengths.quantile(0.6) > 4ms);
    CHECK(lengths.quantile(0.6) < 6ms);
}

TEST_CASE("histogram: two as one") {
    Histogram both;
    both += Histogram{};
    CHECK(both.count() == 0);
    Histogram few;
    few.add(1ms);
    Histogram many;
    many.add(2ms);
    many.add(5us);
    both += few;
    both += many;
    both += Histogram{};
    CHECK(both.count() == 3);
    CHECK(both.sum().count() == doctest::Approx(0.003005));
    CHECK(both.min() == 5us);
    CHECK(both.max() == 2ms);
    CHECK(both.count_up_to(10us) == 1);
}

TEST_CASE("histogram: a recorder tells what was added to it") {
    HistogramRecorder recorder;
    Histogram whole;
    recorder.add_to(whole);
    CHECK(whole.count() == 0);
    recorder.add(0ns);
    recorder.add(3ms);
    recorder.add(-1s);
    recorder.add_to(whole);
    CHECK(whole.count() == 3);
    CHECK(whole.sum().count() == doctest::Approx(0.003));
    CHECK(whole.min() == 0ns);
    CHECK(whole.max() == 3ms);
    CHECK(recorder.max() == 3ms);
    recorder.add_to(whole); // as another thread's
    CHECK(whole.count() == 6);
}

TEST_CASE("histogram: a recorder is read while it counts") {
    HistogramRecorder recorder;
    constexpr int times = 20'000;
    std::thread counting{[&recorder] {
        for (int i = 0; i < times; ++i) {
            recorder.add(std::chrono::nanoseconds{i});
        }
    }};
    std::uint64_t before = 0;
    bool grows = true;
    while (before < times) {
        Histogram whole;
        recorder.add_to(whole);
        grows = grows && whole.count() >= before && whole.min() <= whole.max();
        before = whole.count();
    }
    counting.join();
    CHECK(grows);
    CHECK(before == times);
}
