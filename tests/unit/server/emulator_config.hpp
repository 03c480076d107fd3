// SPDX-License-Identifier: MIT
#pragma once

namespace sessionq::test {

/// A configuration that uses everything in the emulator's format, after its own sample: two queues,
/// and a topic with filters of every kind.
inline constexpr const char* emulator_config = R"({
  "UserConfig": {
    "Namespaces": [
      {
        "Name": "sbemulatorns",
        "Queues": [
          {
            "Name": "invoices",
            "Properties": {
              "DeadLetteringOnMessageExpiration": true,
              "DefaultMessageTimeToLive": "PT1H",
              "DuplicateDetectionHistoryTimeWindow": "PT20S",
              "ForwardDeadLetteredMessagesTo": "",
              "ForwardTo": "",
              "LockDuration": "PT30S",
              "MaxDeliveryCount": 3,
              "RequiresDuplicateDetection": true,
              "RequiresSession": true
            }
          },
          { "Name": "archive" }
        ],
        "Topics": [
          {
            "Name": "events",
            "Properties": {
              "DefaultMessageTimeToLive": "PT1H",
              "DuplicateDetectionHistoryTimeWindow": "PT20S",
              "RequiresDuplicateDetection": false
            },
            "Subscriptions": [
              {
                "Name": "by-label",
                "Properties": {
                  "DeadLetteringOnMessageExpiration": false,
                  "DefaultMessageTimeToLive": "PT1H",
                  "LockDuration": "PT1M",
                  "MaxDeliveryCount": 5,
                  "ForwardDeadLetteredMessagesTo": "archive",
                  "ForwardTo": "",
                  "RequiresSession": false
                },
                "Rules": [
                  {
                    "Name": "everything",
                    "Properties": {
                      "FilterType": "Correlation",
                      "CorrelationFilter": {
                        "ContentType": "application/json", // a comment
                        "CorrelationId": "c",
                        "Label": "created",
                        "MessageId": "m",
                        "ReplyTo": "r",
                        "ReplyToSessionId": "rs",
                        "SessionId": "s",
                        "To": "t",
                        "Properties": { "tier": "gold", "size": 3, "ratio": 0.5, "live": true }
                      }
                    }
                  }
                ]
              },
              { "Name": "all", "Properties": { "RequiresSession": true } },
              {
                "Name": "gold",
                "Properties": { "ForwardTo": "archive" },
                "Rules": [
                  {
                    "Name": "gold",
                    "Properties": {
                      "FilterType": "Sql",
                      "SqlFilter": { "SqlExpression": "tier = 'gold' AND sys.Label LIKE 'cre%'" },
                      "Action": { "SqlExpression": "SET sys.To = 'vault'" }
                    }
                  }
                ]
              }
            ]
          }
        ]
      }
    ],
    "Logging": { "Type": "File" }
  }
})";

} // namespace sessionq::test
