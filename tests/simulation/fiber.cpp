// SPDX-License-Identifier: MIT
#include "simulation/fiber.hpp"

#include <ucontext.h>

#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace sessionq::simulation {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t stack_size = 512 * 1024;
#else
constexpr std::size_t stack_size = 128 * 1024;
#endif

thread_local Fiber* running = nullptr;

} // namespace

struct Fiber::Machine {
    std::unique_ptr<std::byte[]> stack{new std::byte[stack_size]};
    ucontext_t own{};
    ucontext_t outside{};
    bool entered{false};
#if defined(__SANITIZE_ADDRESS__)
    void* fake_own{nullptr};
    void* fake_outside{nullptr};
    const void* outside_bottom{nullptr};
    std::size_t outside_size{0};
#endif
#if defined(__SANITIZE_THREAD__)
    void* tsan_own{__tsan_create_fiber(0)};
    void* tsan_outside{nullptr};
    ~Machine() { __tsan_destroy_fiber(tsan_own); }
#endif

    void go_in() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(&fake_outside, stack.get(), stack_size);
#endif
#if defined(__SANITIZE_THREAD__)
        tsan_outside = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(tsan_own, 0);
#endif
        swapcontext(&outside, &own);
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(fake_outside, nullptr, nullptr);
#endif
    }

    void go_out() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(&fake_own, outside_bottom, outside_size);
#endif
#if defined(__SANITIZE_THREAD__)
        __tsan_switch_to_fiber(tsan_outside, 0);
#endif
        swapcontext(&own, &outside);
        came_in();
    }

    void came_in() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(fake_own, &outside_bottom, &outside_size);
#endif
    }
};

Fiber::Fiber() : machine_{std::make_unique<Machine>()} {}

Fiber::~Fiber() = default;

Fiber* Fiber::current() noexcept { return running; }

void Fiber::start(std::function<void()> body) {
    body_ = std::move(body);
    if (!machine_->entered) {
        machine_->entered = true;
        getcontext(&machine_->own);
        machine_->own.uc_stack.ss_sp = machine_->stack.get();
        machine_->own.uc_stack.ss_size = stack_size;
        machine_->own.uc_link = nullptr;
        makecontext(&machine_->own, &Fiber::entry, 0);
    }
    switch_in();
}

void Fiber::resume() { switch_in(); }

void Fiber::switch_in() {
    running = this;
    machine_->go_in();
    running = nullptr;
}

void Fiber::entry() {
    Fiber& self = *running;
    self.machine_->came_in();
    for (;;) { // one stack serves any number of bodies
        self.ambient_.emplace(OperationContext{});
        self.body_();
        self.ambient_.reset();
        self.body_ = nullptr;
        self.machine_->go_out();
    }
}

void Fiber::pause() {
    Fiber& self = *running;
    const OperationContext carried = OperationContext::current();
    self.ambient_.reset();
    self.machine_->go_out();
    self.ambient_.emplace(carried);
}

} // namespace sessionq::simulation
