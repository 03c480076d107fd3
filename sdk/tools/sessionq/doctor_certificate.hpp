// SPDX-License-Identifier: MIT
#pragma once

#include <openssl/ssl.h>

#include "tools/sessionq/doctor_facts.hpp"

namespace sessionq::cli {

/// Notes the version of TLS, the peer's certificate, and whether it is trusted. The handshake is
/// done.
void read_certificate(SSL* ssl, TlsFacts& facts);

} // namespace sessionq::cli
