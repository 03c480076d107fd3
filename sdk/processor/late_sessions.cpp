#include "processor/late_sessions.hpp"

#include <utility>

namespace sessionq::processor {

void LateSessions::give_back(ports::SessionLinkPtr link) {
    links_.push_back({.link = std::move(link), .until = loop_.now() + patience_});
    Late& late = links_.back();
    late.link->close(
        [this, &late](const auto&) { // not after the link has gone, and so neither after this
            late.closed = true;
            loop_.wake();
        });
}

void LateSessions::sweep() {
    links_.remove_if(
        [now = loop_.now()](const Late& late) { return late.closed || now >= late.until; });
}

} // namespace sessionq::processor
