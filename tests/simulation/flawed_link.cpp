// SPDX-License-Identifier: MIT
#include "simulation/flawed_link.hpp"

namespace sessionq::simulation {

ports::FirstCredit FlawedLink::set_events(ports::LinkEvents& events) {
    const ports::FirstCredit first = link_->set_events(events);
    if (const auto found = unwritten_->find(link_->session_id()); found != unwritten_->end()) {
        link_->set_state(found->second, Deadline::never(), [](const auto&) {});
        unwritten_->erase(found);
    }
    return first;
}

ports::RequestId FlawedLink::get_state(Deadline deadline, StateHandler handler) {
    if (defect_ != SeamDefect::reads_old_state) {
        return link_->get_state(deadline, std::move(handler));
    }
    return link_->get_state(deadline, [read = read_, handler = std::move(handler)](
                                          core::Result<std::optional<std::string>> answer) {
        if (answer && !*read) {
            *read = answer.value();
        }
        handler(answer ? core::Result<std::optional<std::string>>{**read} : std::move(answer));
    });
}

ports::RequestId FlawedLink::set_state(std::optional<std::string> state, Deadline deadline,
                                       DoneHandler handler) {
    if (defect_ == SeamDefect::repeats_state_write) { // until it is answered it is to be made again
        unwritten_->insert_or_assign(link_->session_id(), state);
    }
    return link_->set_state(std::move(state), deadline,
                            [defect = defect_, unwritten = unwritten_,
                             session = link_->session_id(),
                             handler = std::move(handler)](core::Result<core::Done> answer) {
                                if (answer) {
                                    unwritten->erase(session);
                                }
                                handler(defect == SeamDefect::confirms_lost_state
                                            ? core::Result<core::Done>{core::Done{}}
                                            : std::move(answer));
                            });
}

} // namespace sessionq::simulation
