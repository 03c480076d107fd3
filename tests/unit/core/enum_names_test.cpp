// SPDX-License-Identifier: MIT
#include "core/enum_names.hpp"

#include <set>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include <sessionq/sessionq.hpp>
#include <sessionq/testing/settlement.hpp>

using namespace sessionq;

namespace {

/// Each value from `first` to `last` has a name of its own and is printed with it, and no number
/// beyond has one.
template <typename Enum>
void check_names(Enum last, int first = 0) {
    std::set<std::string> names;
    for (int number = first; number <= static_cast<int>(last); ++number) {
        CAPTURE(number);
        const auto value = static_cast<Enum>(number);
        const std::string name{to_string(value)};
        CHECK_FALSE(name.empty());
        CHECK(name != "unknown");
        CHECK(names.insert(name).second);
        std::ostringstream printed;
        printed << value;
        CHECK(printed.str() == name);
    }
    CHECK(to_string(static_cast<Enum>(static_cast<int>(last) + 1)) == "unknown");
}

} // namespace

TEST_CASE("enums: every value has a name and is printed with it") {
    check_names(BodyKind::value);
    check_names(CloseReason::unresponsive);
    check_names(CrashGuard::Action::park_session);
    check_names(Decimal::Width::bits128);
    check_names(Errc::internal_error, 1);
    check_names(ErrorSource::executor);
    check_names(ExpiredMessageAction::handle);
    check_names(FailurePolicy::Action::retry_later);
    check_names(Health::State::failed);
    check_names(HealthCause::internal_error);
    check_names(IdleDirection::write);
    check_names(LogLevel::off);
    check_names(MessageFate::removed);
    check_names(MessageOrder::property);
    check_names(MessageState::scheduled);
    check_names(MetricKind::histogram);
    check_names(OnDamage::set_aside);
    check_names(ProcessorState::stopped);
    check_names(testing::Settlement::Decider::processor);
    check_names(testing::Settlement::Outcome::dead_lettered);
    check_names(SpanKind::consumer);
    check_names(SubQueue::transfer_dead_letter);
    check_names(TextField::to);
    check_names(Transport::web_sockets);
    check_names(UnknownOutcome::resend);
    check_names(ValueType::encoded);
}

TEST_CASE("enums: the names are those of the source") {
    CHECK(to_string(OnDamage::set_aside) == "set_aside");
    CHECK(to_string(ValueType::date_time_offset) == "date_time_offset");
    CHECK(to_string(CrashGuard::Action::park_session) == "park_session");
    CHECK(to_string(FailurePolicy::Action::retry_later) == "retry_later");
    CHECK(to_string(Decimal::Width::bits128) == "bits128");
    CHECK(to_string(SubQueue::transfer_dead_letter) == "transfer_dead_letter");
    CHECK(to_string(testing::Settlement::Outcome::released) == "released");
}
