// SPDX-License-Identifier: MIT
// Compiles Asio's TLS code once, as core/asio_impl.cpp does for the rest of Asio.
#include <asio/ssl/impl/src.hpp>
