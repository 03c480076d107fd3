// SPDX-License-Identifier: MIT
#include "tools/sessionq/declare.hpp"
#include "tools/sessionq/property_text.hpp"
#include "tools/sessionq/time_text.hpp"

namespace sessionq::cli {
namespace {

constexpr Duration longest_delay = std::chrono::hours{24 * 3650};

constexpr const char* records = R"(Records:
With --input json the input is JSON Lines, or JSON objects over several lines, or a list of them.
An object has these members, all optional:

  session, id, subject, correlation_id, reply_to, reply_to_session, to,
  content_type, partition_key, body
                            strings
  properties                an object: "name": string, number, true, false, null,
                            {"time": "2026-01-31T12:00:00Z"}, {"base64": "AP8="},
                            {"TYPE": value} (TYPE as in --property)
  time_to_live, delay       "200ms", "1.5s", "2m", "1h", "7d"
  scheduled                 "2026-01-31T12:00:00Z"
  priority                  0 to 255

A string whose bytes are not UTF-8 is in a member NAME_base64 instead, for example body_base64. A
property of such a string is {"string_base64": "..."}, one that is no number is
{"double": "nan"}, "inf" or "-inf", and a value that no TYPE can say is {"amqp": "..."}, base64 of
its encoded form.

The commands that print messages print these members too, and the broker's facts:
sequence_number, delivery_count, enqueued, expires, state, dead_letter, body_kind. Facts are ignored
in input, so that the output of one command is the input of another:

  sessionq peek orders | sessionq send copies --input json

What these members cannot say of a message from elsewhere (other encodings and sections, a body that
is a value or a list) is in the member "encoded", base64 of whole sections. It is sent byte for byte
by 'send'; a member that was edited counts instead. 'schedule' sends what the other members say.

Messages that ServiceBusExplorer saved as JSON are read, too.
)";

void add_text(CLI::App& command, const char* name, std::string& target, const char* help) {
    command.add_option(name, target, help)->type_name("TEXT");
}

void add_priority(CLI::App& command, Message& pattern) {
    const auto parse = [&pattern](const std::string& text) {
        int value = -1;
        if (!CLI::detail::lexical_cast(text, value) || value < 0 || value > UINT8_MAX) {
            throw UsageError{"--priority: '" + text + "' is not 0 to 255"};
        }
        pattern.priority = static_cast<std::uint8_t>(value);
    };
    command.add_option_function<std::string>("--priority", parse, "Priority, 0 to 255 (4)")
        ->type_name("N");
}

void add_times(CLI::App& command, MessageInput& input) {
    CLI::Option& at = add_time(
        command, "--at", [&input](WallTime time) { input.pattern.scheduled_enqueue_time = time; },
        "When the messages become available");
    add_duration(
        command, "--delay", [&input](Duration delay) { input.delay = delay; }, longest_delay,
        "How long until the messages become available")
        .excludes(&at);
}

/// The options of `send` and `schedule`.
void add_message_options(CLI::App& command, MessageInput& input) {
    Message& pattern = input.pattern;
    add_session(command, pattern.session_id, "Session of the messages");
    add_text(command, "--id", pattern.message_id, "Message id, of a single message (a new UUID)");
    add_text(command, "--correlation-id", pattern.correlation_id, "Correlation id");
    add_text(command, "--subject", pattern.subject, "Subject, also called label");
    add_text(command, "--content-type", pattern.content_type,
             "Content type, for example application/json");
    add_text(command, "--reply-to", pattern.reply_to, "Entity for replies");
    add_text(command, "--reply-to-session", pattern.reply_to_session_id, "Session for replies");
    add_text(command, "--to", pattern.to, "Address that the message is for");
    command
        .add_option_function<std::vector<std::string>>(
            "--property",
            [&pattern](const std::vector<std::string>& texts) {
                for (const std::string& text : texts) {
                    auto [name, value] = parse_property(text);
                    pattern.properties.insert_or_assign(std::move(name), std::move(value));
                }
            },
            "Application property. TYPE is string, int, uint, int8 to int64, uint8 to uint64, "
            "float, "
            "double, decimal, decimal32, decimal64, decimal128, bool, char, time, uuid, symbol, "
            "time_span, uri, date_time_offset, base64, amqp or null (string). Repeatable")
        ->type_name("NAME[:TYPE]=VALUE")
        ->take_all()
        ->allow_extra_args(false);
    const auto set_life = [&pattern](const std::string& text) {
        const auto life = parse_duration(text);
        if (!life || *life <= Duration::zero()) {
            throw UsageError{"--time-to-live: '" + text +
                             "' is not a duration over zero; for example 200ms, 1.5s, 2m or 7d"};
        }
        pattern.time_to_live = std::chrono::ceil<std::chrono::milliseconds>(*life);
    };
    command
        .add_option_function<std::string>("--time-to-live", set_life,
                                          "Time until a message expires (the entity's)")
        ->type_name("DURATION");
    add_priority(command, pattern);
    add_times(command, input);
    CLI::Option* bodies =
        command.add_option("BODY", input.bodies, "Texts to send. Without one the input is sent");
    command.add_option("--file", input.file, "Input. '-' is standard input (-)")
        ->type_name("FILE")
        ->excludes(bodies);
    add_choice<InputFormat>(
        command, "--input", input.format,
        {{"lines", InputFormat::lines}, {"json", InputFormat::json}, {"whole", InputFormat::whole}},
        "What the input is: each line a body, records of JSON (see RECORDS), or all of it one body "
        "(lines)");
}

} // namespace

void declare_sending(CLI::App& app, CommandLine& line) {
    const auto send = std::make_shared<SendOptions>();
    CLI::App& send_command =
        declare(app, line, "send",
                "Sends each BODY as a message, or the messages of a file or of standard input. "
                "Messages go in batches, in order. After a failure it tells how many were sent",
                send);
    add_entity(send_command, send->entity, "Queue or topic");
    add_message_options(send_command, send->input);
    send_command.footer(records);

    const auto schedule = std::make_shared<ScheduleOptions>();
    CLI::App& schedule_command =
        declare(app, line, "schedule",
                "Schedules messages as 'send' sends them, and prints their sequence numbers for "
                "'cancel'. Each needs a time: --at, --delay, or the record's own",
                schedule);
    add_entity(schedule_command, schedule->entity, "Queue or topic");
    add_message_options(schedule_command, schedule->input);

    const auto cancel = std::make_shared<CancelOptions>();
    CLI::App& cancel_command =
        declare(app, line, "cancel", "Cancels scheduled messages, all or none", cancel);
    add_entity(cancel_command, cancel->entity, "Queue or topic");
    add_numbers(cancel_command, "NUMBER", cancel->numbers, "Sequence numbers").required();
}

} // namespace sessionq::cli
