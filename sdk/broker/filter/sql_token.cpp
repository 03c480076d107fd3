// SPDX-License-Identifier: MIT
#include "broker/filter/sql_token.hpp"

#include <charconv>
#include <optional>

namespace sessionq::broker::filter {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
// Every byte beyond ASCII counts as a letter, because none of them has a meaning of its own.
bool is_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
}
bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

class Reader {
public:
    explicit Reader(std::string_view text) noexcept : text_{text} {}

    core::Result<std::vector<Token>> read() {
        std::vector<Token> tokens;
        do {
            while (at_ < text_.size() && is_blank(text_[at_])) {
                ++at_;
            }
            Token token{.at = at_};
            if (const auto complaint = read_one(token)) {
                return Failure{.code = Errc::invalid_argument,
                               .detail =
                                   *complaint + " at position " + std::to_string(token.at + 1)};
            }
            tokens.push_back(std::move(token));
        } while (tokens.back().kind != TokenKind::end);
        return tokens;
    }

private:
    using Complaint = std::optional<std::string>;

    [[nodiscard]] char peek(std::size_t ahead = 0) const noexcept {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    Complaint read_one(Token& token) {
        if (at_ == text_.size()) {
            return std::nullopt;
        }
        const char first = peek();
        if (is_letter(first)) {
            const std::size_t begun = at_;
            while (is_letter(peek()) || is_digit(peek()) || peek() == '_') {
                ++at_;
            }
            token.kind = TokenKind::word;
            token.text = text_.substr(begun, at_ - begun);
            return std::nullopt;
        }
        if (is_digit(first)) {
            return read_number(token);
        }
        if (first == '\'') {
            std::string held;
            token.kind = TokenKind::constant;
            auto complaint = read_quoted('\'', held, "text");
            token.value = std::move(held);
            return complaint;
        }
        if (first == '"' || first == '[') {
            token.kind = TokenKind::name;
            auto complaint = read_quoted(first == '[' ? ']' : '"', token.text, "name");
            return complaint || !token.text.empty() ? complaint : Complaint{"an empty name"};
        }
        return read_symbol(token);
    }

    // A doubled closing character stands for itself.
    Complaint read_quoted(char closing, std::string& to, const char* what) {
        for (++at_; at_ < text_.size(); ++at_) {
            if (peek() != closing) {
                to += peek();
            } else if (peek(1) == closing) {
                to += closing;
                ++at_;
            } else {
                ++at_;
                return std::nullopt;
            }
        }
        return std::string{"unterminated "} + what;
    }

    Complaint read_number(Token& token) {
        const std::size_t begun = at_;
        bool is_whole = true;
        skip_digits();
        if (peek() == '.' && is_digit(peek(1))) {
            is_whole = false;
            ++at_;
            skip_digits();
        }
        const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
        if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
            is_whole = false;
            at_ += 1 + sign;
            skip_digits();
        }
        token.kind = TokenKind::constant;
        const std::string_view digits = text_.substr(begun, at_ - begun);
        if (is_letter(peek()) || peek() == '_') {
            return "a number followed by a letter";
        }
        return is_whole ? convert<std::int64_t>(digits, token) : convert<double>(digits, token);
    }

    template <typename Number>
    static Complaint convert(std::string_view digits, Token& token) {
        Number number{};
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error != std::errc{} || end != digits.data() + digits.size()) {
            return "a number out of range";
        }
        token.value = number;
        return std::nullopt;
    }

    Complaint read_symbol(Token& token) {
        for (const std::string_view symbol : {"<>", "!=", "<=", ">=", "=", "<", ">", "+", "-", "*",
                                              "/", "%", "(", ")", ",", ".", ";"}) {
            if (text_.substr(at_).starts_with(symbol)) {
                token.kind = TokenKind::symbol;
                token.text = symbol;
                at_ += symbol.size();
                return std::nullopt;
            }
        }
        if (peek() == '@') {
            return "parameters are not supported, because rules over AMQP have no values for them,";
        }
        return "an unexpected character";
    }

    void skip_digits() noexcept {
        while (is_digit(peek())) {
            ++at_;
        }
    }

    std::string_view text_;
    std::size_t at_{0};
};

} // namespace

core::Result<std::vector<Token>> read_tokens(std::string_view text) { return Reader{text}.read(); }

} // namespace sessionq::broker::filter
