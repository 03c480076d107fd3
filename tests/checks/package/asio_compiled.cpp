// SPDX-License-Identifier: MIT
// The application's Asio, compiled once.
#include <asio/impl/src.hpp>
