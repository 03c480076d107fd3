// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

/// The parts of <sessionq/async.hpp>. Not for applications.
namespace sessionq::detail {

/// The end of a call, on its way to the caller.
class AnyAnswer {
public:
    AnyAnswer() = default;
    virtual ~AnyAnswer() = default;
    AnyAnswer(const AnyAnswer&) = delete;
    AnyAnswer& operator=(const AnyAnswer&) = delete;
};

using AnyAnswerPtr = std::unique_ptr<AnyAnswer>;

/// The end of a `Call<T>`.
template <typename T>
class Answer : public AnyAnswer {
public:
    /// Makes the result, or throws the error. Call it once, where the caller waits.
    virtual T take() = 0;
};

/// Gets the answer of a call: once, on any thread, also within `AnyCall::start`. It must not wait,
/// throw, or run code of the application.
class AnswerHandler {
public:
    AnswerHandler() = default;
    virtual ~AnswerHandler() = default;
    AnswerHandler(const AnswerHandler&) = delete;
    AnswerHandler& operator=(const AnswerHandler&) = delete;

    virtual void answered(AnyAnswerPtr answer) = 0;
};

using AnswerHandlerPtr = std::unique_ptr<AnswerHandler>;

/// A call that is under way.
class Cancellable {
public:
    /// Ends the call with `cancelled`, unless it has ended. Thread-safe until the answer is taken.
    virtual void cancel() = 0;

protected:
    ~Cancellable() = default;
};

/// A call of the library: its arguments are checked, its context is captured, and it has not
/// started. Keep it until its answer is taken, because it keeps the client.
class AnyCall {
public:
    AnyCall() = default;
    virtual ~AnyCall() = default;
    AnyCall(const AnyCall&) = delete;
    AnyCall& operator=(const AnyCall&) = delete;

    /// Once, before `start`. Expired: the call needs no time and cannot be cancelled.
    [[nodiscard]] virtual std::weak_ptr<Cancellable> answer_to(AnswerHandlerPtr handler) = 0;

    /// Once. The answer may be there before it returns.
    virtual void start() = 0;
};

/// A call with a result of type `T`. Adapters do all but that without the type, so that it is
/// compiled once.
template <typename T>
class Call : public AnyCall {
public:
    /// Takes the answer of this call.
    static T take(AnyAnswer& answer) { return static_cast<Answer<T>&>(answer).take(); }
};

template <typename T>
using CallPtr = std::unique_ptr<Call<T>>;

/// What a completion handler gets beside an error. It is as an object that was moved from if the
/// type has no default constructor.
template <typename T>
[[nodiscard]] T empty_result() {
    return T{};
}

} // namespace sessionq::detail
