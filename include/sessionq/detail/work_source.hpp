// SPDX-License-Identifier: MIT
#pragma once

/// The parts of <sessionq/handler_executor.hpp>. Not for applications.
namespace sessionq::detail {

/// The origin of the works that an executor runs. Exactly one of the two functions is called for
/// each work, on any thread.
class WorkSource {
public:
    WorkSource() = default;
    virtual ~WorkSource() = default;
    WorkSource(const WorkSource&) = delete;
    WorkSource& operator=(const WorkSource&) = delete;

    virtual void run_work() noexcept = 0;
    /// The work was destroyed and never run.
    virtual void drop_work() noexcept = 0;
};

} // namespace sessionq::detail
