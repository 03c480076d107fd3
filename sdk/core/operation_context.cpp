#include <sessionq/operation_context.hpp>

namespace sessionq {
namespace {

thread_local const OperationContext* ambient = nullptr;

const OperationContext clean_context{};

} // namespace

OperationContext OperationContext::with_deadline(Deadline deadline) const {
    OperationContext copy{*this};
    copy.deadline_ = deadline_.sooner(deadline);
    return copy;
}

OperationContext OperationContext::with_stop(std::stop_token stop) const {
    OperationContext copy{*this};
    copy.stop_ = std::move(stop);
    return copy;
}

OperationContext OperationContext::with_trace(TraceContext trace) const {
    OperationContext copy{*this};
    copy.trace_ = std::make_shared<const TraceContext>(std::move(trace));
    return copy;
}

const OperationContext& OperationContext::current() noexcept {
    return ambient != nullptr ? *ambient : clean_context;
}

OperationContext::Scope::Scope(OperationContext context)
    : context_{std::move(context)}, outer_{ambient} {
    ambient = &context_;
}

OperationContext::Scope::~Scope() { ambient = outer_; }

} // namespace sessionq
