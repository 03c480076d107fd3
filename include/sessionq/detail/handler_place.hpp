// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <stop_token>

#include <sessionq/message_context.hpp>
#include <sessionq/session_context.hpp>

/// Where a handler that is a coroutine runs. Not for applications.
namespace sessionq::detail {

/// A function that runs once, or is destroyed without running.
class Job {
public:
    Job() = default;
    virtual ~Job() = default;
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    virtual void run() = 0;
};

using JobPtr = std::unique_ptr<Job>;

/// An adapter's part of a processor. It ends before the workers, and after every handler has ended
/// or was given up.
class Companion {
public:
    Companion() = default;
    virtual ~Companion() = default;
    Companion(const Companion&) = delete;
    Companion& operator=(const Companion&) = delete;
};

/// The workers, as one run of a handler uses them. Thread-safe. Use it until the handler has ended.
class HandlerPlace {
public:
    HandlerPlace() = default;
    virtual ~HandlerPlace() = default;
    HandlerPlace(const HandlerPlace&) = delete;
    HandlerPlace& operator=(const HandlerPlace&) = delete;

    /// Runs the job on a worker: later, never within this call, under the handler's operation
    /// context and within its span. The job is destroyed there, too.
    virtual void post(JobPtr job) const = 0;

    /// The processor's companion of that key, which `make` makes if there is none.
    [[nodiscard]] virtual Companion& companion(const void* key,
                                               std::unique_ptr<Companion> (*make)()) const = 0;

    /// Fires when the handler should end.
    [[nodiscard]] virtual const std::stop_token& stop_token() const noexcept = 0;
};

using HandlerPlacePtr = std::shared_ptr<const HandlerPlace>;

/// Of the handler of that message, batch or session. Call it where the handler starts.
[[nodiscard]] HandlerPlacePtr handler_place(MessageContext& message);
[[nodiscard]] HandlerPlacePtr handler_place(std::span<MessageContext> batch);
[[nodiscard]] HandlerPlacePtr handler_place(SessionContext& session);

} // namespace sessionq::detail
