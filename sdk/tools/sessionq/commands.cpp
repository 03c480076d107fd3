// SPDX-License-Identifier: MIT
#include "tools/sessionq/commands.hpp"

#include "tools/sessionq/output.hpp"

namespace sessionq::cli {
namespace {

template <typename Options>
constexpr bool connects_itself =
    std::is_same_v<Options, DoctorOptions> || std::is_same_v<Options, TopOptions> ||
    std::is_same_v<Options, WatchOptions>;

} // namespace

int run(const CommandLine& line) {
    if (const auto* text = std::get_if<Text>(&line.command)) {
        write_output(text->text);
        return 0;
    }
    return std::visit(
        [&](const auto& options) {
            using Options = std::decay_t<decltype(options)>;
            if constexpr (std::is_same_v<Options, Text>) {
                return 0; // done above
            } else if constexpr (connects_itself<Options>) {
                return run(line.shared, options);
            } else {
                return run(connect(line.shared), line.shared, options);
            }
        },
        line.command);
}

Client connect(const Shared& shared, Duration operation_timeout) {
    return Client::connect(shared.connection,
                           {.operation_timeout = operation_timeout, .proxy = shared.proxy},
                           {.ca_file = shared.ca_file});
}

} // namespace sessionq::cli
