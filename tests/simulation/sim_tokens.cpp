// SPDX-License-Identifier: MIT
#include "simulation/sim_tokens.hpp"

#include <charconv>

namespace sessionq::simulation {
namespace {

constexpr Duration usual_life = std::chrono::hours{1};

} // namespace

void SimTokens::ask(std::string_view audience, WallTime now, Deadline, Handler handler) {
    core::Result<detail::servicebus::Token> answer{
        Failure{.code = Errc::unauthorized, .detail = "no token is given"}};
    if (!environment_->chance(faults_->token_refused)) {
        const WallTime expires =
            now + std::chrono::duration_cast<WallTime::duration>(
                      faults_->token_life > Duration::zero() ? faults_->token_life : usual_life);
        answer =
            detail::servicebus::Token{.type = "jwt",
                                      .text = std::to_string(expires.time_since_epoch().count()),
                                      .expires = expires};
    }
    environment_->scheduler.trace("token for ", audience, answer ? "" : " refused");
    if (faults_->token_high == Duration::zero() || environment_->chance(50)) {
        handler(std::move(answer));
        return;
    }
    const Duration after = environment_->scheduler.between(milliseconds{0}, faults_->token_high);
    environment_->scheduler.after(after, [loop = loop_, here = here_, handler = std::move(handler),
                                          answer = std::move(answer)] {
        loop->post([here, handler, answer] {
            if (*here) {
                handler(answer);
            }
        });
    });
}

std::optional<WallTime> SimTokens::verify(std::string_view token, std::string_view, WallTime) {
    WallTime::rep count = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), count);
    return error == std::errc{} && end == token.data() + token.size()
               ? std::optional{WallTime{WallTime::duration{count}}}
               : std::nullopt;
}

} // namespace sessionq::simulation
