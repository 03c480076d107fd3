// SPDX-License-Identifier: MIT
// The one place where Asio's own bodies are compiled. All other sources see its declarations
// (ASIO_SEPARATE_COMPILATION).
#include <asio/impl/src.hpp>
