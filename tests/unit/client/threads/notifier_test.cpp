// SPDX-License-Identifier: MIT
#include "client/threads/notifier.hpp"

#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>

using namespace sessionq;

TEST_CASE("Notifier: runs what is posted in order, on a thread of its own, and all of it before it "
          "goes") {
    std::string order;
    std::thread::id ran_on;
    {
        detail::client::Notifier notifier;
        notifier.post([&] { ran_on = std::this_thread::get_id(); });
        notifier.post([&] { order += "a"; });
        notifier.post([&] { order += "b"; });
    }
    CHECK(order == "ab");
    CHECK(ran_on != std::this_thread::get_id());
}

TEST_CASE("Notifier: a task that throws does not keep the next from running") {
    std::promise<void> ran;
    detail::client::Notifier notifier;
    notifier.post([] { throw 1; });
    notifier.post([&] { ran.set_value(); });
    ran.get_future().wait();
}

TEST_CASE("Notifier: a task may let go of the last reference to it") {
    auto notifier = std::make_unique<detail::client::Notifier>();
    std::promise<void> let_go;
    detail::client::Notifier& alive = *notifier;
    alive.post([&] {
        notifier.reset();
        let_go.set_value();
    });
    let_go.get_future().wait();
    CHECK(notifier == nullptr);
}
