// SPDX-License-Identifier: MIT
#include "ports/enveloped_state.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::ports {

template <typename Handler>
RequestId EnvelopedState::add(std::function<void()> begin, Handler handler) {
    const RequestId id = ++last_id_;
    if (link_ == nullptr) {
        handler(Failure{.code = Errc::lock_lost});
        return id;
    }
    operations_.push_back({.id = id, .begin = std::move(begin), .fail = std::move(handler)});
    if (operations_.size() == 1) {
        operations_.front().begin();
    }
    return id;
}

void EnvelopedState::end() {
    operations_.pop_front();
    if (!operations_.empty()) {
        operations_.front().begin();
    }
}

void EnvelopedState::read(Deadline deadline, EnvelopeHandler handler) {
    request_ = link_->get_state(deadline, [this, handler = std::move(handler)](
                                              core::Result<std::optional<std::string>> answer) {
        if (!answer.ok()) {
            handler(answer.failure());
            return;
        }
        StateEnvelope envelope = StateEnvelope::open(std::move(answer).value());
        record_ = envelope.record;
        handler(std::move(envelope));
    });
}

void EnvelopedState::write(StateEnvelope envelope, Deadline deadline, DoneHandler handler) {
    std::string record = envelope.record;
    request_ = link_->set_state(std::move(envelope).seal(), deadline,
                                [this, record = std::move(record), handler = std::move(handler)](
                                    core::Result<core::Done> answer) mutable {
                                    record_.reset();
                                    if (answer.ok()) {
                                        record_ = std::move(record);
                                    }
                                    end();
                                    handler(std::move(answer));
                                });
}

RequestId EnvelopedState::get(Deadline deadline, StateHandler handler) {
    return add(
        [this, deadline, handler] {
            read(deadline, [this, handler](core::Result<StateEnvelope> answer) {
                end();
                if (answer.ok()) {
                    handler(std::move(answer.value().application));
                } else {
                    handler(answer.failure());
                }
            });
        },
        handler);
}

RequestId EnvelopedState::set(std::optional<std::string> state, Deadline deadline,
                              DoneHandler handler) {
    return add(
        [this, state = std::move(state), deadline, handler]() mutable {
            if (record_) {
                write({.application = std::move(state), .record = *record_}, deadline, handler);
                return;
            }
            read(deadline, [this, state = std::move(state), deadline,
                            handler](core::Result<StateEnvelope> answer) mutable {
                if (!answer.ok()) {
                    end();
                    handler(answer.failure());
                    return;
                }
                answer.value().application = std::move(state);
                write(std::move(answer).value(), deadline, handler);
            });
        },
        handler);
}

RequestId EnvelopedState::read_record(Deadline deadline, RecordHandler handler) {
    return add(
        [this, deadline, handler] {
            read(deadline, [this, handler](core::Result<StateEnvelope> answer) {
                end();
                if (answer.ok()) {
                    handler(std::move(answer.value().record));
                } else {
                    handler(answer.failure());
                }
            });
        },
        handler);
}

RequestId EnvelopedState::write_record(std::string record, Deadline deadline, DoneHandler handler) {
    return add(
        [this, record = std::move(record), deadline, handler] {
            read(deadline, [this, record, deadline, handler](core::Result<StateEnvelope> answer) {
                if (!answer.ok()) {
                    end();
                    handler(answer.failure());
                    return;
                }
                answer.value().record = record;
                write(std::move(answer).value(), deadline, handler);
            });
        },
        handler);
}

void EnvelopedState::give_up(RequestId id) {
    const auto at = std::ranges::find(operations_, id, &Operation::id);
    if (at == operations_.end()) {
        return;
    }
    if (at == operations_.begin()) {
        link_->give_up(request_);
        return;
    }
    const auto fail = std::move(at->fail);
    operations_.erase(at);
    fail({.code = Errc::cancelled});
}

} // namespace sessionq::ports
