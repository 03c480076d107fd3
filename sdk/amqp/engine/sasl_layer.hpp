// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "amqp/sasl.hpp"

namespace sessionq::amqp {

/// The SASL exchange at the start of a connection, if there is one.
class SaslLayer {
public:
    explicit SaslLayer(std::unique_ptr<SaslExchange> exchange) noexcept
        : exchange_{std::move(exchange)} {}

    [[nodiscard]] bool is_over() const noexcept { return exchange_ == nullptr; }
    void begin(std::string& output) {
        if (exchange_) {
            exchange_->begin(output);
        }
    }
    /// Reads the bytes that arrived. Once the exchange is over, `rest` holds the bytes that belong
    /// to the AMQP stream. A frame that was cut waits here.
    SaslExchange::State feed(std::string_view bytes, std::string& output, std::string& rest) {
        input_.append(bytes);
        std::string_view left = input_;
        const SaslExchange::State state = exchange_->feed(left, output);
        rest = state == SaslExchange::State::done ? std::string{left} : std::string{};
        input_.erase(0, input_.size() - left.size());
        if (state == SaslExchange::State::done) {
            exchange_.reset();
            std::string{}.swap(input_);
        }
        return state;
    }
    /// After it failed.
    [[nodiscard]] const Condition& failure() const { return exchange_->failure(); }
    [[nodiscard]] std::size_t held() const noexcept { return input_.size(); }

private:
    std::unique_ptr<SaslExchange> exchange_;
    std::string input_{}; // not understood yet
};

} // namespace sessionq::amqp
