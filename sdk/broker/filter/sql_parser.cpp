// SPDX-License-Identifier: MIT
#include "broker/filter/sql_parser.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "broker/filter/like.hpp"
#include "broker/filter/limits.hpp"
#include "broker/filter/sql_cursor.hpp"
#include "core/ascii_case.hpp"

namespace sessionq::broker::filter {
namespace {

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

NodePtr negated(bool is_negated, NodePtr of) {
    return is_negated ? node(Operation::logical_not, std::move(of)) : std::move(of);
}

// A recursive-descent parser: each function reads one level of precedence, loosest first.
// Predicates and values share the levels, because parentheses may hold either. The caller checks
// which one it got.
class Parser {
public:
    explicit Parser(std::vector<Token> tokens) : cursor_{std::move(tokens)} {}

    NodePtr read_condition() {
        NodePtr condition = predicate([this] { return read_or(); });
        cursor_.expect_end();
        return condition;
    }

    std::vector<Statement> read_statements() {
        std::vector<Statement> statements;
        do {
            if (statements.size() == most_statements) {
                cursor_.fail("an action may have at most " + std::to_string(most_statements) +
                             " statements");
            }
            if (cursor_.accept_word("SET")) {
                Statement& set =
                    statements.emplace_back(Statement{.property = cursor_.expect_property()});
                cursor_.expect_symbol("=");
                set.expression = value([this] { return read_sum(); });
            } else if (cursor_.accept_word("REMOVE")) {
                statements.push_back({.property = cursor_.expect_property()});
            } else {
                cursor_.fail("expected SET or REMOVE");
            }
            while (cursor_.accept_symbol(";") || cursor_.accept_symbol(",")) {
            }
        } while (!cursor_.is_at_end());
        return statements;
    }

private:
    NodePtr read_or() {
        return read_chain(Operation::logical_or, "OR", [this] { return read_and(); });
    }
    NodePtr read_and() {
        return read_chain(Operation::logical_and, "AND", [this] { return read_not(); });
    }

    // One node for any number of operands, so that a long condition is not nested deeply.
    template <typename Read>
    NodePtr read_chain(Operation operation, std::string_view word, Read read) {
        const std::size_t begun = cursor_.next().at;
        NodePtr first = read();
        if (!cursor_.is_word(word)) {
            return first;
        }
        auto made = std::make_unique<Node>();
        made->operation = operation;
        check_predicate(*first, begun);
        made->operands.push_back(std::move(first));
        while (cursor_.accept_word(word)) {
            made->operands.push_back(predicate(read));
        }
        return made;
    }

    NodePtr read_not() {
        if (!cursor_.accept_word("NOT")) {
            return read_comparison();
        }
        const Depth depth{*this};
        return node(Operation::logical_not, predicate([this] { return read_not(); }));
    }

    NodePtr read_comparison() {
        if (cursor_.accept_word("EXISTS")) {
            cursor_.expect_symbol("(");
            auto made = std::make_unique<Node>();
            made->operation = Operation::exists;
            made->property = cursor_.expect_property();
            cursor_.expect_symbol(")");
            return made;
        }
        const std::size_t begun = cursor_.next().at;
        NodePtr left = read_sum();
        static constexpr std::array<std::pair<std::string_view, Operation>, 7> comparisons{
            {{"=", Operation::equal},
             {"<>", Operation::not_equal},
             {"!=", Operation::not_equal},
             {"<", Operation::less},
             {"<=", Operation::less_equal},
             {">", Operation::greater},
             {">=", Operation::greater_equal}}};
        for (const auto& [symbol, operation] : comparisons) {
            if (cursor_.accept_symbol(symbol)) {
                check_value(*left, begun);
                return node(operation, std::move(left), value([this] { return read_sum(); }));
            }
        }
        if (cursor_.accept_word("IS")) {
            return read_is_null(*left, begun);
        }
        const bool is_negated = cursor_.accept_word("NOT");
        if (cursor_.accept_word("IN")) {
            check_value(*left, begun);
            return negated(is_negated, read_in(std::move(left)));
        }
        if (cursor_.accept_word("LIKE")) {
            check_value(*left, begun);
            return negated(is_negated, read_like(std::move(left)));
        }
        if (is_negated) {
            cursor_.fail("expected IN or LIKE");
        }
        return left;
    }

    NodePtr read_is_null(const Node& of, std::size_t at) {
        if (of.operation != Operation::property) {
            throw SyntaxError{"IS [NOT] NULL requires a property", at};
        }
        const bool is_negated = cursor_.accept_word("NOT");
        cursor_.expect_word("NULL");
        auto made = std::make_unique<Node>();
        made->operation = Operation::is_null;
        made->property = of.property;
        return negated(is_negated, std::move(made));
    }

    NodePtr read_in(NodePtr wanted) {
        auto made = std::make_unique<Node>();
        made->operation = Operation::is_in;
        made->operands.push_back(std::move(wanted));
        cursor_.expect_symbol("(");
        do {
            made->operands.push_back(value([this] { return read_sum(); }));
        } while (cursor_.accept_symbol(","));
        cursor_.expect_symbol(")");
        return made;
    }

    NodePtr read_like(NodePtr text) {
        auto made = std::make_unique<Node>();
        made->operation = Operation::like;
        made->operands.push_back(std::move(text));
        made->operands.push_back(value([this] { return read_sum(); }));
        if (cursor_.accept_word("ESCAPE")) {
            const std::size_t at = cursor_.next().at;
            NodePtr escape = value([this] { return read_sum(); });
            if (escape->operation == Operation::constant) {
                const auto* escaping = std::get_if<std::string>(&escape->value);
                if (escaping == nullptr || !single_character(*escaping)) {
                    throw SyntaxError{"the escape character must be one character", at};
                }
            }
            made->operands.push_back(std::move(escape));
        }
        return made;
    }

    NodePtr read_sum() {
        return read_operators({{"+", Operation::add}, {"-", Operation::subtract}},
                              [this] { return read_product(); });
    }
    NodePtr read_product() {
        return read_operators(
            {{"*", Operation::multiply}, {"/", Operation::divide}, {"%", Operation::modulo}},
            [this] { return read_signed(); });
    }

    template <typename Read>
    NodePtr read_operators(std::initializer_list<std::pair<std::string_view, Operation>> operators,
                           Read read) {
        const std::size_t begun = cursor_.next().at;
        NodePtr left = read();
        for (;;) {
            const auto* found = std::ranges::find_if(
                operators, [this](const auto& one) { return cursor_.is_symbol(one.first); });
            if (found == operators.end()) {
                return left;
            }
            cursor_.expect_symbol(found->first);
            check_value(*left, begun);
            left = node(found->second, std::move(left), value(read));
        }
    }

    NodePtr read_signed() {
        const bool is_minus = cursor_.accept_symbol("-");
        if (!is_minus && !cursor_.accept_symbol("+")) {
            return read_primary();
        }
        const Depth depth{*this};
        return node(is_minus ? Operation::minus : Operation::plus,
                    value([this] { return read_signed(); }));
    }

    NodePtr read_primary() {
        if (cursor_.next().kind == TokenKind::constant) {
            return constant(cursor_.take().value);
        }
        if (cursor_.accept_symbol("(")) {
            const Depth depth{*this};
            NodePtr inner = read_or();
            cursor_.expect_symbol(")");
            return inner;
        }
        for (const auto& [word, truth] : {std::pair{"TRUE", true}, std::pair{"FALSE", false}}) {
            if (cursor_.accept_word(word)) {
                return constant(truth);
            }
        }
        if (cursor_.accept_word("NULL")) {
            return constant({});
        }
        if (cursor_.is_call()) {
            return read_function();
        }
        auto made = std::make_unique<Node>();
        made->operation = Operation::property;
        made->property = cursor_.expect_property();
        return made;
    }

    NodePtr read_function() {
        const Token name = cursor_.take();
        cursor_.expect_symbol("(");
        const Depth depth{*this};
        if (core::equal_ignoring_case(name.text, "newid")) {
            cursor_.expect_symbol(")");
            auto made = std::make_unique<Node>();
            made->operation = Operation::new_id;
            return made;
        }
        if (core::equal_ignoring_case(name.text, "property") ||
            core::equal_ignoring_case(name.text, "p")) {
            NodePtr made = node(Operation::property_by_name, value([this] { return read_sum(); }));
            cursor_.expect_symbol(")");
            return made;
        }
        throw SyntaxError{"unknown function '" + name.text + "'", name.at};
    }

    // ---- predicates and values

    template <typename Read>
    NodePtr predicate(Read read) {
        const std::size_t begun = cursor_.next().at;
        NodePtr read_node = read();
        check_predicate(*read_node, begun);
        return read_node;
    }
    template <typename Read>
    NodePtr value(Read read) {
        const std::size_t begun = cursor_.next().at;
        NodePtr read_node = read();
        check_value(*read_node, begun);
        return read_node;
    }
    // A property may be true or false.
    static void check_predicate(const Node& found, std::size_t at) {
        const bool is_truth =
            found.operation == Operation::constant && std::holds_alternative<bool>(found.value);
        const bool is_property = found.operation == Operation::property ||
                                 found.operation == Operation::property_by_name;
        if (!found.is_predicate() && !is_truth && !is_property) {
            throw SyntaxError{"expected a condition, found a value", at};
        }
    }
    static void check_value(const Node& found, std::size_t at) {
        if (found.is_predicate()) {
            throw SyntaxError{"expected a value, found a condition", at};
        }
    }

    struct Depth {
        explicit Depth(Parser& of) : parser{of} {
            if (++parser.depth_ > deepest_nesting) {
                parser.cursor_.fail("nested deeper than " + std::to_string(deepest_nesting) +
                                    " levels");
            }
        }
        ~Depth() { --parser.depth_; }
        Depth(const Depth&) = delete;
        Depth& operator=(const Depth&) = delete;
        Parser& parser;
    };

    TokenCursor cursor_;
    int depth_{0};
};

template <typename Parsed, typename Read>
core::Result<Parsed> parse(std::string_view text, Read read) {
    if (text.size() > longest_expression) {
        return Failure{.code = Errc::invalid_argument,
                       .detail = "an expression may have at most " +
                                 std::to_string(longest_expression) + " bytes; it has " +
                                 std::to_string(text.size())};
    }
    auto tokens = read_tokens(text);
    if (!tokens) {
        return tokens.failure();
    }
    try {
        Parser parser{std::move(tokens).value()};
        return read(parser);
    } catch (SyntaxError& error) {
        return Failure{.code = Errc::invalid_argument,
                       .detail =
                           std::move(error.what) + " at position " + std::to_string(error.at + 1)};
    }
}

} // namespace

core::Result<NodePtr> parse_condition(std::string_view text) {
    return parse<NodePtr>(text, [](Parser& parser) { return parser.read_condition(); });
}

core::Result<std::vector<Statement>> parse_action(std::string_view text) {
    return parse<std::vector<Statement>>(text,
                                         [](Parser& parser) { return parser.read_statements(); });
}

} // namespace sessionq::broker::filter
