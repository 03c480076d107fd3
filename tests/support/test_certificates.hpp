// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace sessionq::test {

/// A certificate authority and certificates that it signed, as PEM files in a folder that is
/// removed with this object.
class TestCertificates {
public:
    TestCertificates();
    ~TestCertificates();
    TestCertificates(const TestCertificates&) = delete;
    TestCertificates& operator=(const TestCertificates&) = delete;

    [[nodiscard]] std::string ca() const { return (folder_ / "ca.pem").string(); }
    /// For "localhost" and 127.0.0.1.
    [[nodiscard]] std::string server() const { return (folder_ / "server.pem").string(); }
    [[nodiscard]] std::string server_key() const { return (folder_ / "server.key").string(); }
    /// By the same authority. Its common name is "localhost", and it has no subjectAltName.
    [[nodiscard]] std::string nameless() const { return (folder_ / "nameless.pem").string(); }
    [[nodiscard]] std::string nameless_key() const { return (folder_ / "nameless.key").string(); }
    /// For "elsewhere.example", by the same authority.
    [[nodiscard]] std::string elsewhere() const { return (folder_ / "elsewhere.pem").string(); }
    [[nodiscard]] std::string elsewhere_key() const { return (folder_ / "elsewhere.key").string(); }

private:
    std::filesystem::path folder_;
};

} // namespace sessionq::test
