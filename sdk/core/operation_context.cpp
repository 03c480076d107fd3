// SPDX-License-Identifier: MIT
#include <sessionq/operation_context.hpp>

#include <pthread.h>

#include <cstdint>

#include <sessionq/error.hpp>

#include "core/lock_bound.hpp"

// Of AddressSanitizer, which may keep local variables elsewhere. Null without it.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
[[gnu::weak]] void* __asan_get_current_fake_stack();
[[gnu::weak]] void* __asan_addr_is_in_fake_stack(void* fake_stack, void* object, void** begin,
                                                 void** end);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace sessionq::inline v1 {
namespace {

thread_local const OperationContext* ambient = nullptr;

/// Where this thread's stack lies. Empty if that is not known.
struct StackBounds {
    std::uintptr_t low{0};
    std::uintptr_t high{0};

    StackBounds() noexcept {
        pthread_attr_t attributes;
        if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) {
            return;
        }
        void* stack = nullptr;
        std::size_t size = 0;
        if (::pthread_attr_getstack(&attributes, &stack, &size) == 0) {
            low = reinterpret_cast<std::uintptr_t>(stack);
            high = low + size;
        }
        ::pthread_attr_destroy(&attributes);
    }

    [[nodiscard]] bool contains(const void* object) const noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(object);
        return low <= address && address < high;
    }
};

bool is_in_fake_stack(const void* object) noexcept {
    return __asan_get_current_fake_stack != nullptr &&
           __asan_addr_is_in_fake_stack(__asan_get_current_fake_stack(), const_cast<void*>(object),
                                        nullptr, nullptr) != nullptr;
}

/// Refuses a scope that is no local variable of a function. Those of a coroutine lie in its frame,
/// on the heap, and the scope would be ambient for other work of this thread while the coroutine is
/// suspended. A fiber's stack is not known, so nothing is refused there.
void require_local(const void* scope) {
    static thread_local const StackBounds stack;
    if (stack.contains(__builtin_frame_address(0)) && !stack.contains(scope) &&
        !is_in_fake_stack(scope)) {
        throw Error{Errc::invalid_state,
                    "an OperationContext scope in a coroutine would leak to other work of its "
                    "thread; pass the context to each function instead"};
    }
}

/// A token that fires when one of two fires, as long as this exists. Keeps the objects that fire
/// them.
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
    require_local(this);
    ambient = &context_;
}

OperationContext::Scope::~Scope() { ambient = outer_; }

OperationContext::DetachedScope::DetachedScope() : outer_{ambient} {
    require_local(this);
    ambient = nullptr;
}

OperationContext::DetachedScope::~DetachedScope() { ambient = outer_; }

} // namespace sessionq::inline v1
