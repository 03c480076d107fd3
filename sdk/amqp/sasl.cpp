// SPDX-License-Identifier: MIT
#include "amqp/sasl.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/http_answer.hpp"
#include "core/byte_order.hpp"
#include "core/peer_words.hpp"

namespace sessionq::amqp {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view sasl_header = "AMQP\x03\x01\x00\x00"sv;
constexpr std::size_t frame_header = 8;
constexpr std::size_t longest_frame = 512; // the standard's limit during SASL
constexpr std::string_view refused = "amqp:unauthorized-access";

/// Names the protocol that the peer speaks instead, as far as its first bytes tell.
std::string in_place_of_header(std::string_view first) {
    std::string text = "the peer does not speak AMQP 1.0 with SASL";
    if (first.starts_with("AMQP\x00\x01"sv)) {
        text += "; it speaks AMQP 1.0 without SASL";
    } else if (first.starts_with("AMQP\x02"sv)) {
        text += "; it speaks TLS"; // it says so in AMQP's words
    } else if (first.starts_with("AMQP")) {
        text += "; it speaks another version of AMQP";
    } else if (first.starts_with("HTTP/") || is_http_request(first)) {
        text += "; it speaks HTTP";
    } else if (first.starts_with("\x15\x03"sv) || first.starts_with("\x16\x03"sv)) {
        text += "; it speaks TLS";
    }
    return text;
}

enum Code : std::uint8_t {
    mechanisms = 0x40,
    init = 0x41,
    challenge = 0x42,
    response = 0x43,
    outcome = 0x44
};

/// A SASL frame: its code and fields.
struct SaslFrame {
    std::uint64_t code{0};
    List fields{};

    [[nodiscard]] const Value& at(std::size_t index) const {
        static const Value absent;
        return index < fields.size() ? fields[index] : absent;
    }
};

void put_frame(Code code, List fields, std::string& to) {
    std::string body;
    Encoder encoder{body};
    encoder.write_descriptor(code);
    const std::size_t begun = encoder.begin_list();
    for (const Value& field : fields) {
        encoder.write(field);
    }
    encoder.end_list(begun, static_cast<std::uint32_t>(fields.size()));
    const std::size_t size = frame_header + body.size();
    std::array<char, frame_header> header{0, 0, 0, 0, 2, 1, 0, 0};
    core::put_number<4>(header.data(), size);
    to.append(header.data(), header.size());
    to.append(body);
}

/// The layer that both sides share: first the protocol header, then frames.
class Exchange : public SaslExchange {
public:
    State feed(std::string_view& input, std::string& output) final {
        while (state_ == State::going_on) {
            if (!seen_header_) {
                if (!take_header(input, output)) {
                    return state_;
                }
                continue;
            }
            if (input.size() < frame_header) {
                return state_;
            }
            const std::size_t size = core::number_at<4>(input.data());
            const std::size_t offset =
                static_cast<std::size_t>(static_cast<std::uint8_t>(input[4])) * 4;
            if (size > longest_frame || offset < frame_header || offset > size || input[5] != 1) {
                return fail("amqp:decode-error", "the peer sent an invalid SASL frame");
            }
            if (input.size() < size) {
                return state_;
            }
            SaslFrame frame;
            Decoder decoder{input.substr(offset, size - offset)};
            const auto code = decoder.read_descriptor();
            auto fields = code ? decoder.read() : std::nullopt;
            if (!fields || fields->as<List>() == nullptr) {
                return fail("amqp:decode-error",
                            "the peer sent a SASL frame that cannot be decoded");
            }
            frame.code = *code;
            frame.fields = *fields->as<List>();
            input.remove_prefix(size);
            state_ = on_frame(frame, output);
        }
        return state_;
    }

protected:
    virtual State on_frame(const SaslFrame& frame, std::string& output) = 0;
    virtual void on_header(std::string& output) = 0;
    virtual void on_wrong_header(std::string_view /*first*/, std::string& /*output*/) {}

    State fail(std::string_view condition, std::string text) {
        failure_ = {.name = std::string{condition},
                    .text = std::move(text),
                    .found = condition == refused ? Errc::unauthorized : Errc::protocol_error};
        return state_ = State::failed;
    }

private:
    bool take_header(std::string_view& input, std::string& output) {
        const std::string_view first = input.substr(0, sasl_header.size());
        if (!sasl_header.starts_with(first)) {
            on_wrong_header(input, output);
            fail("amqp:connection:framing-error", in_place_of_header(input));
            return false;
        }
        if (first.size() < sasl_header.size()) {
            return false;
        }
        input.remove_prefix(sasl_header.size());
        seen_header_ = true;
        on_header(output);
        return true;
    }

    bool seen_header_{false};
    State state_{State::going_on};
};

class Client final : public Exchange {
public:
    explicit Client(SaslCredentials credentials) : credentials_{std::move(credentials)} {}

    void begin(std::string& output) override { output.append(sasl_header); }

private:
    void on_header(std::string&) override {}

    State on_frame(const SaslFrame& frame, std::string& output) override {
        if (frame.code == mechanisms) {
            return std::exchange(has_chosen_, true)
                       ? fail("amqp:not-allowed", "the peer offered SASL mechanisms twice")
                       : on_mechanisms(frame, output);
        }
        if (frame.code != outcome) {
            return fail("amqp:not-implemented",
                        "the peer wants a SASL exchange of several steps, which is not supported");
        }
        const auto code = frame.at(0).unsigned_integer();
        if (code == 0U) {
            return State::done;
        }
        return fail(refused, "the peer rejected the SASL credentials (code " +
                                 std::to_string(code.value_or(255)) + ")");
    }

    State on_mechanisms(const SaslFrame& frame, std::string& output) {
        std::vector<std::string> offered;
        if (const auto* items = frame.at(0).items()) {
            for (const Value& item : *items) {
                offered.emplace_back(item.text().value_or(""));
            }
        } else if (const auto text = frame.at(0).text()) {
            offered.emplace_back(*text);
        }
        const auto chosen = choose(offered);
        if (!chosen) {
            std::string names;
            for (const std::string& name : offered) {
                names += (names.empty() ? "" : ", ") + name;
            }
            return fail(refused, "the peer does not offer a suitable SASL mechanism; it offers: " +
                                     core::peer_words(names));
        }
        std::string initial = "anonymous";
        if (*chosen == "PLAIN") {
            initial = '\0' + credentials_.user + '\0' + credentials_.password;
        } else if (*chosen == "EXTERNAL") {
            initial.clear();
        }
        put_frame(init,
                  {Value::symbol(*chosen), Binary{std::move(initial)},
                   credentials_.hostname.empty() ? Value{} : Value{credentials_.hostname}},
                  output);
        return State::going_on;
    }

    [[nodiscard]] std::optional<std::string_view> choose(
        const std::vector<std::string>& offered) const {
        using Mechanism = SaslCredentials::Mechanism;
        const auto has = [&](std::string_view name) {
            return std::find(offered.begin(), offered.end(), name) != offered.end();
        };
        const auto wants = [&](Mechanism mechanism, bool if_any) {
            return credentials_.mechanism == mechanism ||
                   (credentials_.mechanism == Mechanism::any && if_any);
        };
        if (wants(Mechanism::plain, !credentials_.user.empty()) && has("PLAIN")) {
            return "PLAIN";
        }
        if (wants(Mechanism::external, credentials_.has_certificate) && has("EXTERNAL")) {
            return "EXTERNAL";
        }
        if (wants(Mechanism::anonymous, credentials_.user.empty()) && has("ANONYMOUS")) {
            return "ANONYMOUS";
        }
        return std::nullopt;
    }

    const SaslCredentials credentials_;
    bool has_chosen_{false};
};

class Server final : public Exchange {
public:
    explicit Server(PlainCheck check) : check_{std::move(check)} {}

    void begin(std::string&) override {}

private:
    static constexpr std::array offered{"MSSBCBS"sv, "PLAIN"sv, "ANONYMOUS"sv, "EXTERNAL"sv};

    /// The standard's answer. It also tells a TLS client that this is another protocol, more
    /// clearly than an alert would.
    void on_wrong_header(std::string_view first, std::string& output) override {
        if (is_http_request(first)) {
            output.append(
                http_refusal("400 Bad Request",
                             "This port speaks AMQP 1.0, not HTTP. There is no administration "
                             "over HTTP, and WebSockets have a port of their own."));
        } else {
            output.append(sasl_header);
        }
    }

    void on_header(std::string& output) override {
        Array names{.element = 0xa3};
        for (const std::string_view name : offered) {
            names.items.push_back(Value::symbol(name));
        }
        output.append(sasl_header);
        put_frame(mechanisms, {std::move(names)}, output);
    }

    State on_frame(const SaslFrame& frame, std::string& output) override {
        if (frame.code != init) {
            return fail("amqp:not-allowed", "expected a SASL init frame");
        }
        const std::string_view mechanism = frame.at(0).text().value_or(""sv);
        const bool is_known = std::find(offered.begin(), offered.end(), mechanism) != offered.end();
        if (!is_known || (mechanism == "PLAIN" && !is_let_in(frame.at(1).bytes().value_or(""sv)))) {
            put_frame(outcome, {std::uint8_t{1}}, output);
            return fail(refused, "the SASL credentials were rejected");
        }
        put_frame(outcome, {std::uint8_t{0}, Binary{"Welcome!"}}, output);
        return State::done;
    }

    [[nodiscard]] bool is_let_in(std::string_view response) const {
        const std::size_t first = response.find('\0');
        const std::size_t second =
            first == std::string_view::npos ? first : response.find('\0', first + 1);
        return second != std::string_view::npos && check_ &&
               check_(response.substr(first + 1, second - first - 1), response.substr(second + 1));
    }

    const PlainCheck check_;
};

} // namespace

std::unique_ptr<SaslExchange> make_sasl_client(SaslCredentials credentials) {
    return std::make_unique<Client>(std::move(credentials));
}

std::unique_ptr<SaslExchange> make_sasl_server(PlainCheck check) {
    return std::make_unique<Server>(std::move(check));
}

} // namespace sessionq::amqp
