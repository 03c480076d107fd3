// SPDX-License-Identifier: MIT
#include "support/interleaving.hpp"

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <optional>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace sessionq::test::interleaving {

namespace {

/// A suspended stack: its context, and what the sanitizers need to know of it.
struct Place {
    ucontext_t context{};
    const void* stack_bottom{nullptr};
    std::size_t stack_size{0};
    void* sanitizer{nullptr};
};

void finish_switch([[maybe_unused]] Place& arrived, [[maybe_unused]] Place* first_left) {
#if defined(__SANITIZE_ADDRESS__)
    if (first_left != nullptr) {
        __sanitizer_finish_switch_fiber(nullptr, &first_left->stack_bottom,
                                        &first_left->stack_size);
    } else {
        __sanitizer_finish_switch_fiber(arrived.sanitizer, nullptr, nullptr);
    }
#endif
}

void go(Place& from, Place& to) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&from.sanitizer, to.stack_bottom, to.stack_size);
#elif defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(to.sanitizer, 0);
#endif
    swapcontext(&from.context, &to.context);
    finish_switch(from, nullptr);
}

/// Runs one script after another. It stays suspended after the last one, when its stack is empty.
struct Fiber : Place {
    explicit Fiber(void (*entry)()) {
        getcontext(&context);
        context.uc_stack.ss_sp = stack.get();
        context.uc_stack.ss_size = size;
        stack_bottom = stack.get();
        stack_size = size;
        makecontext(&context, entry, 0);
#if defined(__SANITIZE_THREAD__)
        sanitizer = __tsan_create_fiber(0);
#endif
    }
    ~Fiber() {
#if defined(__SANITIZE_THREAD__)
        __tsan_destroy_fiber(sanitizer);
#endif
    }
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    static constexpr std::size_t size = 128 * 1024;
    std::unique_ptr<std::byte[]> stack{new std::byte[size]};
    std::function<void()> script;
    const std::function<bool()>* ready{nullptr}; // what it waits for
    bool finished{false};
};

} // namespace

class Scheduler {
public:
    static Scheduler* current() noexcept { return executing; }

    void add(std::function<void()> script) { scripts_.push_back(std::move(script)); }

    bool execute() {
        prepare();
        executing = this;
        for (std::size_t i = 0; i < scripts_.size();
             ++i) { // up to its first scheduling point, since the code before it shares nothing
            resume_from_main(i);
        }
        started_ = true;
        if (const auto first = choose()) {
            resume_from_main(*first);
        }
        executing = nullptr;
        if (broken_) {
            fibers_.clear(); // suspended in the middle of a script, so they cannot be reused
        }
        scripts_.clear();
        return !broken_;
    }

    void point() {
        constexpr std::size_t most_steps = 10'000;
        if (!started_) {
            go(*fibers_[running_], main_);
            return;
        }
        if (++steps_ > most_steps) {
            give_up("the scripts do not end");
        }
        go_on();
    }

    void wait_until(const std::function<bool()>& ready) {
        fibers_[running_]->ready = &ready;
        if (started_) {
            go_on();
        } else {
            go(*fibers_[running_], main_);
        }
        fibers_[running_]->ready = nullptr;
    }

    void note(std::string what) {
        if (violation_.empty()) {
            violation_ = std::move(what);
            violating_schedule_ = schedule_;
        }
    }

    Outcome explore(const std::function<void(Run&)>& body, std::uint64_t limit) {
        Outcome outcome;
        do {
            if (outcome.interleavings == limit) {
                outcome.complete = false;
                break;
            }
            depth_ = steps_ = 0;
            schedule_.clear();
            Run run{*this};
            body(run);
            ++outcome.interleavings;
        } while (violation_.empty() && next_path());
        outcome.violation = violation_;
        outcome.schedule = violating_schedule_;
        return outcome;
    }

private:
    struct Choice {
        std::size_t taken;
        std::size_t options;
    };

    void prepare() {
        while (fibers_.size() < scripts_.size()) {
            fibers_.push_back(std::make_unique<Fiber>(&Scheduler::fiber_entry));
        }
        for (std::size_t i = 0; i < scripts_.size(); ++i) {
            fibers_[i]->script = std::move(scripts_[i]);
            fibers_[i]->finished = false;
        }
#if defined(__SANITIZE_THREAD__)
        main_.sanitizer = __tsan_get_current_fiber();
#endif
        started_ = broken_ = false;
    }

    void resume_from_main(std::size_t index) {
        running_ = index;
        go(main_, *fibers_[index]);
    }

    static void fiber_entry() {
        Scheduler& scheduler = *executing;
        Fiber& self = *scheduler.fibers_[scheduler.running_];
        finish_switch(self, &scheduler.main_);
        for (;;) {
            scheduler.run_script(self);
            self.finished = true;
            scheduler.started_ ? scheduler.go_on() : go(self, scheduler.main_);
        }
    }

    void run_script(Fiber& fiber) {
        try {
            fiber.script();
        } catch (const std::exception& error) {
            note(std::string{"a script threw: "} + error.what());
        } catch (...) {
            note("a script threw");
        }
        fiber.script = nullptr;
    }

    /// Switches from the running fiber to the next chosen one, which may be itself, or to main when
    /// all are done.
    void go_on() {
        Fiber& self = *fibers_[running_];
        const auto next = choose();
        if (!next) {
            go(self, main_);
        } else if (*next != running_) {
            running_ = *next;
            go(self, *fibers_[*next]);
        }
    }

    void give_up(const char* why) {
        note(why);
        broken_ = true;
        go(*fibers_[running_], main_);
    }

    std::optional<std::size_t> choose() {
        std::array<std::size_t, 16> runnable{};
        std::size_t count = 0;
        bool waiting = false;
        for (std::size_t i = 0; i < scripts_.size(); ++i) {
            const Fiber& fiber = *fibers_[i];
            if (fiber.finished) {
                continue;
            }
            if (fiber.ready != nullptr && !(*fiber.ready)()) {
                waiting = true;
                continue;
            }
            runnable.at(count++) = i;
        }
        if (count == 0) {
            if (waiting) {
                note("deadlock");
                broken_ = true;
            }
            return std::nullopt;
        }
        if (count == 1) {
            return runnable[0];
        }
        schedule_.push_back(runnable.at(decide(count)));
        return schedule_.back();
    }

    std::size_t decide(std::size_t options) {
        if (depth_ == path_.size()) {
            path_.push_back({.taken = 0, .options = options});
        }
        const Choice& choice = path_[depth_++];
        if (choice.options != options) {
            note("the body does not do the same each time");
        }
        return std::min(choice.taken, options - 1);
    }

    bool next_path() {
        while (!path_.empty() && path_.back().taken + 1 == path_.back().options) {
            path_.pop_back();
        }
        if (path_.empty()) {
            return false;
        }
        ++path_.back().taken;
        return true;
    }

    static inline thread_local Scheduler* executing = nullptr;

    std::vector<Choice> path_;
    std::size_t depth_{0};
    std::size_t steps_{0};
    std::vector<std::size_t> schedule_;
    std::string violation_;
    std::vector<std::size_t> violating_schedule_;

    std::vector<std::function<void()>> scripts_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    Place main_;
    std::size_t running_{0};
    bool started_{false}; // all scripts are at their first scheduling point
    bool broken_{false};
};

std::string Outcome::to_string() const {
    std::string text =
        violation.empty() ? (complete ? "passed" : "stopped at the limit") : violation;
    text += " after " + std::to_string(interleavings) + " interleavings";
    if (!violation.empty()) {
        text += "; schedule:";
        for (const std::size_t thread : schedule) {
            text += ' ' + std::to_string(thread);
        }
    }
    return text;
}

void Run::thread(std::function<void()> script) { scheduler_.add(std::move(script)); }
bool Run::execute() { return scheduler_.execute(); }
void Run::expect(bool holds, const char* what) {
    if (!holds) {
        scheduler_.note(what);
    }
}

Outcome explore(const std::function<void(Run&)>& body, std::uint64_t limit) {
    return Scheduler{}.explore(body, limit);
}

void point() {
    if (Scheduler* scheduler = Scheduler::current()) {
        scheduler->point();
    }
}

void wait_until(const std::function<bool()>& ready) {
    if (Scheduler* scheduler = Scheduler::current()) {
        scheduler->wait_until(ready);
    }
}

} // namespace sessionq::test::interleaving
