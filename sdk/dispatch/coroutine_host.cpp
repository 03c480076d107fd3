// SPDX-License-Identifier: MIT
#include "dispatch/coroutine_host.hpp"

#include <utility>

namespace sessionq::dispatch {

class CoroutineHost::Place final : public detail::HandlerPlace,
                                   public std::enable_shared_from_this<Place> {
public:
    Place(CoroutineHost& host, OperationContext context, core::SpanHandle span,
          std::stop_token stop)
        : host_{host},
          context_{std::move(context)},
          span_{std::move(span)},
          stop_{std::move(stop)} {}

    void post(detail::JobPtr job) const override {
        host_.executor_.post([place = shared_from_this(), job = std::move(job)]() mutable {
            const OperationContext::Scope scope{place->context_};
            const std::shared_ptr<void> entered = core::enter_span(place->span_);
            const detail::JobPtr running = std::move(job); // destroyed before the scope
            running->run();
        });
    }

    detail::Companion& companion(const void* key,
                                 std::unique_ptr<detail::Companion> (*make)()) const override {
        const std::lock_guard guard{host_.mutex_};
        std::unique_ptr<detail::Companion>& there = host_.companions_[key];
        if (there == nullptr) {
            there = make();
        }
        return *there;
    }

    const std::stop_token& stop_token() const noexcept override { return stop_; }

private:
    CoroutineHost& host_;
    const OperationContext context_;
    const core::SpanHandle span_;
    const std::stop_token stop_;
};

detail::HandlerPlacePtr CoroutineHost::place(OperationContext context, core::SpanHandle span,
                                             std::stop_token stop) {
    return std::make_shared<const Place>(*this, std::move(context), std::move(span),
                                         std::move(stop));
}

} // namespace sessionq::dispatch
