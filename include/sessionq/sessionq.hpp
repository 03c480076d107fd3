// SPDX-License-Identifier: MIT
#pragma once

/// Includes everything except <sessionq/async.hpp>, which includes Asio.

#include <sessionq/batch_handler.hpp>
#include <sessionq/batch_options.hpp>
#include <sessionq/browser.hpp>
#include <sessionq/client.hpp>
#include <sessionq/connection_idleness.hpp>
#include <sessionq/crash_guard.hpp>
#include <sessionq/deadline.hpp>
#include <sessionq/error.hpp>
#include <sessionq/failure_policy.hpp>
#include <sessionq/http_proxy.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/lock_token.hpp>
#include <sessionq/locked_message.hpp>
#include <sessionq/logging.hpp>
#include <sessionq/message.hpp>
#include <sessionq/message_batch.hpp>
#include <sessionq/message_content.hpp>
#include <sessionq/message_context.hpp>
#include <sessionq/message_handler.hpp>
#include <sessionq/message_order.hpp>
#include <sessionq/on_damage.hpp>
#include <sessionq/operation_context.hpp>
#include <sessionq/processor.hpp>
#include <sessionq/processor_options.hpp>
#include <sessionq/processor_report.hpp>
#include <sessionq/received_message.hpp>
#include <sessionq/receiver.hpp>
#include <sessionq/redrive.hpp>
#include <sessionq/rule.hpp>
#include <sessionq/rule_manager.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/sender_options.hpp>
#include <sessionq/session_context.hpp>
#include <sessionq/session_message.hpp>
#include <sessionq/session_processor.hpp>
#include <sessionq/session_receiver.hpp>
#include <sessionq/sub_queue.hpp>
#include <sessionq/time.hpp>
#include <sessionq/token_credential.hpp>
#include <sessionq/trace_context.hpp>
#include <sessionq/transport.hpp>
#include <sessionq/version.hpp>
#include <sessionq/wait_for_signal.hpp>
