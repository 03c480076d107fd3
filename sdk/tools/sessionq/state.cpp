// SPDX-License-Identifier: MIT
#include <sessionq/session_receiver.hpp>

#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/json_text.hpp"
#include "tools/sessionq/line_reader.hpp"
#include "tools/sessionq/output.hpp"

namespace sessionq::cli {
namespace {

void replace_state(const Client& client, const std::string& entity, const std::string& session,
                   std::optional<std::string> state) {
    SessionReceiver receiver = SessionReceiver::accept(client, entity, session);
    receiver.set_state(std::move(state));
    receiver.close();
}

} // namespace

int run(const Client& client, const Shared& shared, const GetStateOptions& options) {
    SessionReceiver receiver = SessionReceiver::accept(client, options.entity, options.session);
    const auto state = receiver.state();
    receiver.close();
    if (shared.json) {
        Json line = Json::object();
        put_text(line, "session", options.session);
        if (state) {
            put_text(line, "state", *state);
        } else {
            line["state"] = nullptr;
        }
        write_output(line_of(line));
    } else if (state) {
        write_output(for_output(*state) + "\n");
    }
    return 0;
}

int run(const Client& client, const Shared&, const SetStateOptions& options) {
    replace_state(client, options.entity, options.session,
                  options.text ? *options.text : LineReader{options.file}.rest());
    return 0;
}

int run(const Client& client, const Shared&, const ClearStateOptions& options) {
    replace_state(client, options.entity, options.session, std::nullopt);
    return 0;
}

} // namespace sessionq::cli
