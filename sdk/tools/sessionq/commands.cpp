// SPDX-License-Identifier: MIT
#include "tools/sessionq/commands.hpp"

#include "tools/sessionq/output.hpp"

namespace sessionq::cli {

int run(const CommandLine& line) {
    if (const auto* text = std::get_if<Text>(&line.command)) {
        write_output(text->text);
        return 0;
    }
    if (const auto* doctor = std::get_if<DoctorOptions>(&line.command)) {
        return run(line.shared, *doctor);
    }
    const Client client = Client::connect(line.shared.connection, {.proxy = line.shared.proxy},
                                          {.ca_file = line.shared.ca_file});
    return std::visit(
        [&](const auto& options) {
            using Options = std::decay_t<decltype(options)>;
            if constexpr (std::is_same_v<Options, Text> || std::is_same_v<Options, DoctorOptions>) {
                return 0; // done above
            } else {
                return run(client, line.shared, options);
            }
        },
        line.command);
}

} // namespace sessionq::cli
