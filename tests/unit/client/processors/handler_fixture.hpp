// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

#include "client/calls/operation.hpp"
#include "unit/client/recording_pending.hpp"
#include "unit/processor/support/processor_bench.hpp"

namespace sessionq::test {

/// A session in whose handler the test is.
struct HandlerFixture {
    HandlerFixture() {
        bench.holds = true;
        bench.start();
        link = bench.open("a");
        bench.deliver(link, {"1"});
        REQUIRE(bench.started.size() == 1);
    }

    [[nodiscard]] SessionContext session() { return bench.started.front().context->session(); }

    template <typename T>
    std::shared_ptr<RecordingPending<T>> run(detail::client::Operation<T> operation) {
        auto pending = std::make_shared<RecordingPending<T>>(operation.loop, operation.deadline);
        pending->watch(std::move(operation.context));
        pending->on_give_up(std::move(operation.unstarted));
        detail::client::launch<T>(pending, std::move(operation.start));
        bench.run();
        return pending;
    }

    ProcessorBench bench{};
    ScriptedLinkPtr link{};
};

} // namespace sessionq::test
