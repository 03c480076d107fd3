// SPDX-License-Identifier: MIT
#include <sessionq/operation_context.hpp>

#include "core/lock_bound.hpp"

namespace sessionq {
namespace {

thread_local const OperationContext* ambient = nullptr;

/// A token that fires when one of two fires, as long as this exists. Keeps what fires them.
class LinkedStop {
public:
    LinkedStop(const std::stop_token& one, std::shared_ptr<const void> fires_one,
               const std::stop_token& other, std::shared_ptr<const void> fires_other)
        : fires_one_{std::move(fires_one)},
          fires_other_{std::move(fires_other)},
          first_{one, Fire{source_}},
          second_{other, Fire{source_}} {}

    [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }

private:
    struct Fire {
        std::stop_source source;
        void operator()() noexcept { source.request_stop(); }
    };

    std::shared_ptr<const void> fires_one_;
    std::shared_ptr<const void> fires_other_;
    std::stop_source source_{};
    std::stop_callback<Fire> first_;
    std::stop_callback<Fire> second_;
};

} // namespace

Deadline OperationContext::lock_expires() const noexcept {
    return lock_ ? lock_->expires() : Deadline::never();
}

OperationContext OperationContext::with_deadline(Deadline deadline) const {
    OperationContext copy{*this};
    copy.deadline_ = deadline_.sooner(deadline);
    return copy;
}

OperationContext OperationContext::with_stop(std::stop_token stop) const {
    OperationContext copy{*this};
    copy.add_stop(stop, nullptr);
    return copy;
}

OperationContext OperationContext::with_trace(TraceContext trace) const {
    OperationContext copy{*this};
    copy.trace_ = std::make_shared<const TraceContext>(std::move(trace));
    return copy;
}

OperationContext OperationContext::within(const OperationContext& outer) const {
    OperationContext both = with_deadline(outer.deadline_);
    both.add_stop(outer.stop_, outer.fires_stop_);
    both.trace_ = trace_ ? trace_ : outer.trace_;
    both.lock_ = lock_ ? lock_ : outer.lock_;
    return both;
}

void OperationContext::add_stop(const std::stop_token& stop, std::shared_ptr<const void> fires) {
    if (!stop.stop_possible() || stop == stop_) {
        return;
    }
    if (!stop_.stop_possible()) {
        stop_ = stop;
        fires_stop_ = std::move(fires);
        return;
    }
    auto both =
        std::make_shared<const LinkedStop>(stop_, std::move(fires_stop_), stop, std::move(fires));
    stop_ = both->token();
    fires_stop_ = std::move(both);
}

const OperationContext& OperationContext::current() noexcept {
    static const OperationContext& clean = *new OperationContext; // threads may outlive statics
    return ambient != nullptr ? *ambient : clean;
}

OperationContext::Scope::Scope(OperationContext context)
    : context_{ambient != nullptr ? context.within(*ambient) : std::move(context)},
      outer_{ambient} {
    ambient = &context_;
}

OperationContext::Scope::~Scope() { ambient = outer_; }

OperationContext::DetachedScope::DetachedScope() noexcept : outer_{ambient} { ambient = nullptr; }

OperationContext::DetachedScope::~DetachedScope() { ambient = outer_; }

} // namespace sessionq
