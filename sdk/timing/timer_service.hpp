#pragma once
// CONTRACT (implemented by the timing part): see design.md section 2 and 4.
//
// class TimerService {
// public:
//     TimerService(core::Executor& executor, TimePoint start);
//     void arm(Timer& timer, TimePoint due);     // not armed: arms; armed: moves. Never runs the timer inline, also when due has passed.
//     void cancel(Timer& timer) noexcept;        // after it, the timer does not run; also between expiry and its run. Not armed: no effect.
//     void advance(TimePoint now);               // the driver's call: takes what has expired and hands it to the executor in one task
//     std::optional<TimePoint> next_wakeup() const; // when the driver must call advance next; none: never
//     std::size_t size() const;                  // armed timers
// };
// A timer never runs before its due time; resolution 1 ms (rounded up).
