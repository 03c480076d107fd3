#include "simulation/flawed_link.hpp"

namespace sessionq::simulation {

void FlawedLink::set_events(ports::LinkEvents& events) {
    link_->set_events(events);
    if (const auto found = unwritten_->find(link_->session_id()); found != unwritten_->end()) {
        link_->set_state(found->second, [](const auto&) {});
        unwritten_->erase(found);
    }
}

void FlawedLink::get_state(StateHandler handler) {
    if (defect_ != SeamDefect::reads_old_state) {
        link_->get_state(std::move(handler));
        return;
    }
    link_->get_state([read = read_, handler = std::move(handler)](
                         core::Result<std::optional<std::string>> answer) {
        if (answer && !*read) {
            *read = answer.value();
        }
        handler(answer ? core::Result<std::optional<std::string>>{**read} : std::move(answer));
    });
}

void FlawedLink::set_state(std::optional<std::string> state, DoneHandler handler) {
    if (defect_ == SeamDefect::repeats_state_write) { // until it is answered it is to be made again
        unwritten_->insert_or_assign(link_->session_id(), state);
    }
    link_->set_state(std::move(state),
                     [defect = defect_, unwritten = unwritten_, session = link_->session_id(),
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
