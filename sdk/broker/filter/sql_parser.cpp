#include "broker/filter/sql_parser.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "broker/filter/like.hpp"
#include "core/ascii_case.hpp"

namespace sessionq::broker::filter {
namespace {

constexpr int deepest = 100; // parentheses, signs and NOTs within one another

constexpr std::array<std::string_view, 13> reserved{"AND",  "OR",     "NOT",  "IN",    "LIKE", "ESCAPE", "IS",
                                                    "NULL", "EXISTS", "TRUE", "FALSE", "SET",  "REMOVE"};

/// What is wrong and where; caught before anybody sees it.
struct SyntaxError {
    std::string what;
    std::size_t at;
};

NodePtr node(Operation operation, NodePtr first, NodePtr second = nullptr) {
    auto made = std::make_unique<Node>();
    made->operation = operation;
    made->operands.push_back(std::move(first));
    if (second) {
        made->operands.push_back(std::move(second));
    }
    return made;
}

NodePtr constant(Value value) {
    auto made = std::make_unique<Node>();
    made->value = std::move(value);
    return made;
}

NodePtr negated(bool is_negated, NodePtr of) { return is_negated ? node(Operation::logical_not, std::move(of)) : std::move(of); }

// By descent: each function reads one level of binding, loosest first. Predicates and values share the levels, for parentheses may hold either, and each place
// checks which it has got.
class Parser {
public:
    explicit Parser(std::vector<Token> tokens) : tokens_{std::move(tokens)} {}

    NodePtr read_condition() {
        NodePtr condition = predicate([this] { return read_or(); });
        expect_end();
        return condition;
    }

    std::vector<Statement> read_statements() {
        std::vector<Statement> statements;
        do {
            if (accept_word("SET")) {
                Statement& set = statements.emplace_back(Statement{.property = read_property()});
                expect_symbol("=");
                set.expression = value([this] { return read_sum(); });
            } else if (accept_word("REMOVE")) {
                statements.push_back({.property = read_property()});
            } else {
                fail("SET or REMOVE is expected");
            }
            while (accept_symbol(";") || accept_symbol(",")) {
            }
        } while (next().kind != TokenKind::end);
        return statements;
    }

private:
    NodePtr read_or() {
        return read_chain(Operation::logical_or, "OR", [this] { return read_and(); });
    }
    NodePtr read_and() {
        return read_chain(Operation::logical_and, "AND", [this] { return read_not(); });
    }

    // Of any number of operands side by side, so that a long condition is no deep one.
    template <typename Read>
    NodePtr read_chain(Operation operation, std::string_view word, Read read) {
        const std::size_t begun = next().at;
        NodePtr first = read();
        if (!is_word(word)) {
            return first;
        }
        auto made = std::make_unique<Node>();
        made->operation = operation;
        check_predicate(*first, begun);
        made->operands.push_back(std::move(first));
        while (accept_word(word)) {
            made->operands.push_back(predicate(read));
        }
        return made;
    }

    NodePtr read_not() {
        if (!accept_word("NOT")) {
            return read_comparison();
        }
        const Depth depth{*this};
        return node(Operation::logical_not, predicate([this] { return read_not(); }));
    }

    NodePtr read_comparison() {
        if (accept_word("EXISTS")) {
            expect_symbol("(");
            auto made = std::make_unique<Node>();
            made->operation = Operation::exists;
            made->property = read_property();
            expect_symbol(")");
            return made;
        }
        const std::size_t begun = next().at;
        NodePtr left = read_sum();
        static constexpr std::array<std::pair<std::string_view, Operation>, 7> comparisons{{{"=", Operation::equal},
                                                                                            {"<>", Operation::not_equal},
                                                                                            {"!=", Operation::not_equal},
                                                                                            {"<", Operation::less},
                                                                                            {"<=", Operation::less_equal},
                                                                                            {">", Operation::greater},
                                                                                            {">=", Operation::greater_equal}}};
        for (const auto& [symbol, operation] : comparisons) {
            if (accept_symbol(symbol)) {
                check_value(*left, begun);
                return node(operation, std::move(left), value([this] { return read_sum(); }));
            }
        }
        if (accept_word("IS")) {
            return read_is_null(*left, begun);
        }
        const bool is_negated = accept_word("NOT");
        if (accept_word("IN")) {
            check_value(*left, begun);
            return negated(is_negated, read_in(std::move(left)));
        }
        if (accept_word("LIKE")) {
            check_value(*left, begun);
            return negated(is_negated, read_like(std::move(left)));
        }
        if (is_negated) {
            fail("IN or LIKE is expected");
        }
        return left;
    }

    NodePtr read_is_null(const Node& of, std::size_t at) {
        if (of.operation != Operation::property) {
            throw SyntaxError{"IS [NOT] NULL is asked of a property only", at};
        }
        const bool is_negated = accept_word("NOT");
        if (!accept_word("NULL")) {
            fail("NULL is expected");
        }
        auto made = std::make_unique<Node>();
        made->operation = Operation::is_null;
        made->property = of.property;
        return negated(is_negated, std::move(made));
    }

    NodePtr read_in(NodePtr wanted) {
        auto made = std::make_unique<Node>();
        made->operation = Operation::is_in;
        made->operands.push_back(std::move(wanted));
        expect_symbol("(");
        do {
            made->operands.push_back(value([this] { return read_sum(); }));
        } while (accept_symbol(","));
        expect_symbol(")");
        return made;
    }

    NodePtr read_like(NodePtr text) {
        auto made = std::make_unique<Node>();
        made->operation = Operation::like;
        made->operands.push_back(std::move(text));
        made->operands.push_back(value([this] { return read_sum(); }));
        if (accept_word("ESCAPE")) {
            const std::size_t at = next().at;
            NodePtr escape = value([this] { return read_sum(); });
            if (escape->operation == Operation::constant) {
                const auto* escaping = std::get_if<std::string>(&escape->value);
                if (escaping == nullptr || !single_character(*escaping)) {
                    throw SyntaxError{"the escape character is a text of one character", at};
                }
            }
            made->operands.push_back(std::move(escape));
        }
        return made;
    }

    NodePtr read_sum() {
        return read_operators({{"+", Operation::add}, {"-", Operation::subtract}}, [this] { return read_product(); });
    }
    NodePtr read_product() {
        return read_operators({{"*", Operation::multiply}, {"/", Operation::divide}, {"%", Operation::modulo}}, [this] { return read_signed(); });
    }

    template <typename Read>
    NodePtr read_operators(std::initializer_list<std::pair<std::string_view, Operation>> operators, Read read) {
        const std::size_t begun = next().at;
        NodePtr left = read();
        for (;;) {
            const auto* found = std::ranges::find_if(operators, [this](const auto& one) { return is_symbol(one.first); });
            if (found == operators.end()) {
                return left;
            }
            ++at_;
            check_value(*left, begun);
            left = node(found->second, std::move(left), value(read));
        }
    }

    NodePtr read_signed() {
        const bool is_minus = is_symbol("-");
        if (!is_minus && !is_symbol("+")) {
            return read_primary();
        }
        ++at_;
        const Depth depth{*this};
        return node(is_minus ? Operation::minus : Operation::plus, value([this] { return read_signed(); }));
    }

    NodePtr read_primary() {
        const Token& token = next();
        if (token.kind == TokenKind::constant) {
            ++at_;
            return constant(token.value);
        }
        if (accept_symbol("(")) {
            const Depth depth{*this};
            NodePtr inner = read_or();
            expect_symbol(")");
            return inner;
        }
        for (const auto& [word, truth] : {std::pair{"TRUE", true}, std::pair{"FALSE", false}}) {
            if (accept_word(word)) {
                return constant(truth);
            }
        }
        if (accept_word("NULL")) {
            return constant({});
        }
        if (token.kind == TokenKind::word && at_ + 1 < tokens_.size() && tokens_[at_ + 1].text == "(" && tokens_[at_ + 1].kind == TokenKind::symbol) {
            return read_function();
        }
        auto made = std::make_unique<Node>();
        made->operation = Operation::property;
        made->property = read_property();
        return made;
    }

    NodePtr read_function() {
        const Token& name = next();
        at_ += 2;
        const Depth depth{*this};
        if (core::equal_ignoring_case(name.text, "newid")) {
            expect_symbol(")");
            auto made = std::make_unique<Node>();
            made->operation = Operation::new_id;
            return made;
        }
        if (core::equal_ignoring_case(name.text, "property") || core::equal_ignoring_case(name.text, "p")) {
            NodePtr made = node(Operation::property_by_name, value([this] { return read_sum(); }));
            expect_symbol(")");
            return made;
        }
        throw SyntaxError{"there is no function '" + name.text + "'", name.at};
    }

    PropertyName read_property() {
        const Token first = read_name();
        const bool is_own = first.kind == TokenKind::word && core::equal_ignoring_case(first.text, "sys");
        const bool is_scope = is_own || (first.kind == TokenKind::word && core::equal_ignoring_case(first.text, "user"));
        if (!accept_symbol(".")) {
            return {.name = first.text};
        }
        if (!is_scope) {
            throw SyntaxError{"'" + first.text + "' is no scope; there are sys and user", first.at};
        }
        Token second = read_name();
        if (!is_own) {
            return {.name = std::move(second.text)};
        }
        const auto own = find_own(second.text);
        if (!own) {
            throw SyntaxError{"sys." + second.text + " is not supported; there are " + list_own(), second.at};
        }
        return {.own = own, .name = std::move(second.text)};
    }

    Token read_name() {
        const Token& token = next();
        const auto is_this = [&](std::string_view word) { return core::equal_ignoring_case(word, token.text); };
        if (token.kind != TokenKind::name && (token.kind != TokenKind::word || std::ranges::any_of(reserved, is_this))) {
            fail("a value or the name of a property is expected");
        }
        ++at_;
        return token;
    }

    // ---- what a place needs

    template <typename Read>
    NodePtr predicate(Read read) {
        const std::size_t begun = next().at;
        NodePtr read_node = read();
        check_predicate(*read_node, begun);
        return read_node;
    }
    template <typename Read>
    NodePtr value(Read read) {
        const std::size_t begun = next().at;
        NodePtr read_node = read();
        check_value(*read_node, begun);
        return read_node;
    }
    // A property may turn out to be true or false.
    static void check_predicate(const Node& found, std::size_t at) {
        const bool is_truth = found.operation == Operation::constant && std::holds_alternative<bool>(found.value);
        const bool is_property = found.operation == Operation::property || found.operation == Operation::property_by_name;
        if (!found.is_predicate() && !is_truth && !is_property) {
            throw SyntaxError{"a condition is expected, not a value,", at};
        }
    }
    static void check_value(const Node& found, std::size_t at) {
        if (found.is_predicate()) {
            throw SyntaxError{"a value is expected, not a condition,", at};
        }
    }

    // ---- tokens

    [[nodiscard]] const Token& next() const noexcept { return tokens_[at_]; }
    [[nodiscard]] bool is_word(std::string_view word) const noexcept {
        return next().kind == TokenKind::word && core::equal_ignoring_case(next().text, word);
    }
    [[nodiscard]] bool is_symbol(std::string_view symbol) const noexcept { return next().kind == TokenKind::symbol && next().text == symbol; }
    bool accept_word(std::string_view word) noexcept {
        const bool is_there = is_word(word);
        at_ += is_there ? 1 : 0;
        return is_there;
    }
    bool accept_symbol(std::string_view symbol) noexcept {
        const bool is_there = is_symbol(symbol);
        at_ += is_there ? 1 : 0;
        return is_there;
    }
    void expect_symbol(std::string_view symbol) {
        if (!accept_symbol(symbol)) {
            fail("'" + std::string{symbol} + "' is expected");
        }
    }
    void expect_end() const {
        if (next().kind != TokenKind::end) {
            fail("the end is expected");
        }
    }
    [[noreturn]] void fail(std::string what) const { throw SyntaxError{std::move(what), next().at}; }

    struct Depth {
        explicit Depth(Parser& of) : parser{of} {
            if (++parser.depth_ > deepest) {
                parser.fail("nested too deeply");
            }
        }
        ~Depth() { --parser.depth_; }
        Depth(const Depth&) = delete;
        Depth& operator=(const Depth&) = delete;
        Parser& parser;
    };

    std::vector<Token> tokens_;
    std::size_t at_{0};
    int depth_{0};
};

template <typename Parsed, typename Read>
core::Result<Parsed> parse(std::string_view text, Read read) {
    if (text.size() > longest_expression) {
        return Failure{.code = Errc::invalid_argument, .detail = "an expression has at most " + std::to_string(longest_expression) + " characters"};
    }
    auto tokens = read_tokens(text);
    if (!tokens) {
        return tokens.failure();
    }
    try {
        Parser parser{std::move(tokens).value()};
        return read(parser);
    } catch (SyntaxError& error) {
        return Failure{.code = Errc::invalid_argument, .detail = std::move(error.what) + " at position " + std::to_string(error.at + 1)};
    }
}

} // namespace

core::Result<NodePtr> parse_condition(std::string_view text) {
    return parse<NodePtr>(text, [](Parser& parser) { return parser.read_condition(); });
}

core::Result<std::vector<Statement>> parse_action(std::string_view text) {
    return parse<std::vector<Statement>>(text, [](Parser& parser) { return parser.read_statements(); });
}

} // namespace sessionq::broker::filter
