// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/message.hpp>

#include "tools/sessionq/json_text.hpp"

namespace sessionq::cli {

/// Whether an object is a message that ServiceBusExplorer saved. It writes all members of a .NET
/// message, in camel case.
[[nodiscard]] bool is_explorer_record(const Json& record);

/// Reads such a message over `pattern`. Members that tell of the old delivery are ignored. Its body
/// is text, or JSON that the program took apart, and which is written without space. The program
/// saves properties of all types as texts, or, in older versions, as JSON. Throws RecordError.
[[nodiscard]] Message read_explorer_record(const Json& record, Message pattern);

} // namespace sessionq::cli
