// SPDX-License-Identifier: MIT
//! The crate azservicebus against the broker in SESSIONQ_CONNECTION. Every case has entities and a
//! connection of its own.

use std::collections::HashMap;
use std::env;
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use azservicebus::administration::{RuleFilter, SqlRuleAction, SqlRuleFilter, TrueRuleFilter};
use azservicebus::authorization::AzureNamedKeyCredential;
use azservicebus::core::BasicRetryPolicy;
use azservicebus::receiver::DeadLetterOptions;
use azservicebus::{
    ServiceBusClient, ServiceBusClientOptions, ServiceBusMessage, ServiceBusPeekedMessage,
    ServiceBusReceivedMessage, ServiceBusReceiverOptions, ServiceBusRetryOptions,
    ServiceBusSessionReceiverOptions, SubQueue,
};
use time::OffsetDateTime;

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Done = Result<(), Failure>;
type Client = ServiceBusClient<BasicRetryPolicy>;

const SOON: Duration = Duration::from_secs(10);
const A_MOMENT: Duration = Duration::from_millis(500);
const DEADLINE: Duration = Duration::from_secs(30); // of a case

static TAKEN: Mutex<Option<HashMap<&str, u32>>> = Mutex::new(None);

fn take(kind: &'static str) -> String {
    let mut taken = TAKEN.lock().unwrap();
    let next = taken.get_or_insert_default().entry(kind).or_default();
    *next += 1;
    format!("{kind}{}", *next - 1)
}

fn field(name: &str) -> String {
    let connection = env::var("SESSIONQ_CONNECTION").expect("SESSIONQ_CONNECTION is not set");
    let start = format!("{name}=");
    let part = connection.split(';').find_map(|part| part.strip_prefix(&start));
    part.unwrap_or_else(|| panic!("SESSIONQ_CONNECTION has no {name}")).to_string()
}

// A connection string loses its port. A namespace keeps it.
async fn connect_with(key: &str) -> Result<Client, Failure> {
    let place = field("Endpoint").replace("sb://", "").replace('/', "");
    let credential = AzureNamedKeyCredential::new(field("SharedAccessKeyName"), key);
    let options = ServiceBusClientOptions {
        retry_options: ServiceBusRetryOptions {
            max_retries: 0,
            try_timeout: SOON,
            ..Default::default()
        },
        ..Default::default()
    };
    Ok(if env::var("SESSIONQ_CA").is_ok() {
        ServiceBusClient::new_from_named_key_credential(place, credential, options).await?
    } else {
        ServiceBusClient::unsecured()
            .new_from_named_key_credential(place, credential, options)
            .await?
    })
}

async fn connect() -> Result<Client, Failure> {
    connect_with(&field("SharedAccessKey")).await
}

async fn send(client: &mut Client, entity: &str, messages: Vec<ServiceBusMessage>) -> Done {
    let mut sender = client.create_sender(entity, Default::default()).await?;
    sender.send_messages(messages).await?;
    sender.dispose().await?;
    Ok(())
}

fn texts(texts: &[&str]) -> Vec<ServiceBusMessage> {
    texts.iter().map(|text| ServiceBusMessage::new(*text)).collect()
}

fn of_session(session: &str, text: &str) -> ServiceBusMessage {
    let mut message = ServiceBusMessage::new(text);
    message.set_session_id(session.to_string()).unwrap();
    message
}

fn text(message: &ServiceBusReceivedMessage) -> String {
    String::from_utf8(message.body().unwrap().to_vec()).unwrap()
}

fn peeked(messages: &[ServiceBusPeekedMessage]) -> Vec<&str> {
    messages.iter().map(|message| std::str::from_utf8(message.body().unwrap()).unwrap()).collect()
}

fn dead_letters() -> ServiceBusReceiverOptions {
    ServiceBusReceiverOptions { sub_queue: SubQueue::DeadLetter, ..Default::default() }
}

// Returns the error of what must fail, in words.
fn refused<T>(result: Result<T, impl Into<Failure>>) -> String {
    match result {
        Ok(_) => panic!("not refused"),
        Err(error) => format!("{:?}", error.into()),
    }
}

async fn messages_arrive_with_their_properties_and_are_completed() -> Done {
    let (mut client, queue) = (connect().await?, take("p"));
    let mut sent = ServiceBusMessage::new(vec![0, 255, 127, 128]);
    sent.set_message_id("id-1")?;
    sent.set_subject("subject".to_string());
    sent.set_correlation_id("correlation".to_string());
    sent.set_content_type("text/plain".to_string());
    sent.set_reply_to("answers".to_string());
    sent.set_time_to_live(Duration::from_secs(600))?;
    let mut messages = vec![sent];
    messages.extend(texts(&["two", "three"]));
    send(&mut client, &queue, messages).await?;
    let mut receiver = client.create_receiver_for_queue(&queue, Default::default()).await?;
    let got = receiver.receive_message().await?;
    assert_eq!(got.body()?, [0, 255, 127, 128]);
    assert_eq!(got.message_id().as_deref(), Some("id-1"));
    assert_eq!(got.subject(), Some("subject"));
    assert_eq!(got.correlation_id().as_deref(), Some("correlation"));
    assert_eq!(got.content_type(), Some("text/plain"));
    assert_eq!(got.reply_to(), Some("answers"));
    assert_eq!(got.time_to_live(), Some(Duration::from_secs(600)));
    assert_eq!(got.delivery_count(), Some(1));
    let left = got.locked_until().unwrap() - OffsetDateTime::now_utc();
    assert!((50..=61).contains(&left.whole_seconds()), "locked for {left}");
    receiver.complete_message(&got).await?;
    for expected in ["two", "three"] {
        let got = receiver.receive_message().await?;
        assert_eq!(text(&got), expected);
        receiver.complete_message(&got).await?;
    }
    assert!(receiver.peek_message(None).await?.is_none());
    Ok(client.dispose().await?)
}

async fn abandon_brings_the_message_back_and_counts() -> Done {
    let (mut client, queue) = (connect().await?, take("p"));
    send(&mut client, &queue, texts(&["one", "two"])).await?;
    let mut receiver = client.create_receiver_for_queue(&queue, Default::default()).await?;
    for count in 1..=10 {
        let got = receiver.receive_message().await?;
        assert_eq!((text(&got).as_str(), got.delivery_count()), ("one", Some(count)));
        receiver.abandon_message(&got, None).await?;
    }
    assert_eq!(text(&receiver.receive_message().await?), "two");
    let mut dead = client.create_receiver_for_queue(&queue, dead_letters()).await?;
    let got = dead.receive_message().await?;
    assert_eq!(text(&got), "one");
    assert_eq!(got.dead_letter_reason(), Some("MaxDeliveryCountExceeded"));
    Ok(client.dispose().await?)
}

async fn dead_letters_have_their_reason() -> Done {
    let (mut client, queue) = (connect().await?, take("p"));
    send(&mut client, &queue, texts(&["bad"])).await?;
    let mut receiver = client.create_receiver_for_queue(&queue, Default::default()).await?;
    let got = receiver.receive_message().await?;
    let why = DeadLetterOptions {
        dead_letter_reason: Some("broken".into()),
        dead_letter_error_description: Some("in two".into()),
        properties_to_modify: None,
    };
    receiver.dead_letter_message(&got, why).await?;
    let mut dead = client.create_receiver_for_queue(&queue, dead_letters()).await?;
    let got = dead.receive_message().await?;
    assert_eq!(text(&got), "bad");
    assert_eq!(got.dead_letter_reason(), Some("broken"));
    assert_eq!(got.dead_letter_error_description(), Some("in two"));
    dead.complete_message(&got).await?;
    assert!(dead.peek_message(None).await?.is_none());
    Ok(client.dispose().await?)
}

async fn a_deferred_message_is_received_by_its_number() -> Done {
    let (mut client, queue) = (connect().await?, take("p"));
    send(&mut client, &queue, texts(&["later", "now"])).await?;
    let mut receiver = client.create_receiver_for_queue(&queue, Default::default()).await?;
    let got = receiver.receive_message().await?;
    let number = got.sequence_number();
    receiver.defer_message(&got, None).await?;
    let now = receiver.receive_message().await?;
    assert_eq!(text(&now), "now");
    receiver.complete_message(&now).await?;
    let got = receiver.receive_deferred_message(number).await?.expect("the deferred message");
    assert_eq!((text(&got).as_str(), got.delivery_count()), ("later", Some(1)));
    receiver.complete_message(&got).await?;
    refused(receiver.receive_deferred_message(number).await);
    Ok(client.dispose().await?)
}

async fn a_scheduled_message_comes_when_due_unless_cancelled() -> Done {
    let (mut client, queue) = (connect().await?, take("p"));
    let mut sender = client.create_sender(&queue, Default::default()).await?;
    let due = OffsetDateTime::now_utc() + Duration::from_secs(2);
    let cancelled = sender.schedule_message("never", due).await?;
    sender.schedule_message("late", due).await?;
    sender.cancel_scheduled_message(cancelled).await?;
    refused(sender.cancel_scheduled_message(cancelled).await);
    let mut receiver = client.create_receiver_for_queue(&queue, Default::default()).await?;
    let got = receiver.receive_message().await?;
    assert_eq!(text(&got), "late");
    let ahead = due - OffsetDateTime::now_utc();
    assert!(ahead.whole_milliseconds() < 50, "came {ahead} ahead of its time");
    receiver.complete_message(&got).await?;
    assert!(receiver.peek_message(None).await?.is_none());
    Ok(client.dispose().await?)
}

async fn a_lock_that_is_renewed_lasts() -> Done {
    let (mut client, queue) = (connect().await?, take("shortp"));
    send(&mut client, &queue, texts(&["one"])).await?;
    let mut receiver = client.create_receiver_for_queue(&queue, Default::default()).await?;
    let mut got = receiver.receive_message().await?;
    let (began, first) = (Instant::now(), got.locked_until().unwrap());
    while began.elapsed() < Duration::from_secs(7) {
        tokio::time::sleep(Duration::from_secs(2)).await; // the lock's length is 5 s
        receiver.renew_message_lock(&mut got).await?;
    }
    assert!(got.locked_until().unwrap() > first + Duration::from_secs(6));
    receiver.complete_message(&got).await?;
    assert!(receiver.peek_message(None).await?.is_none());
    Ok(client.dispose().await?)
}

async fn peek_takes_nothing() -> Done {
    let (mut client, queue) = (connect().await?, take("p"));
    send(&mut client, &queue, texts(&["one", "two", "three"])).await?;
    let mut receiver = client.create_receiver_for_queue(&queue, Default::default()).await?;
    let all = receiver.peek_messages(10, None).await?;
    assert_eq!(peeked(&all), ["one", "two", "three"]);
    let rest = receiver.peek_messages(10, Some(all[1].sequence_number())).await?;
    assert_eq!(peeked(&rest), ["two", "three"]);
    let got = receiver.receive_message().await?;
    assert_eq!((text(&got).as_str(), got.delivery_count()), ("one", Some(1)));
    Ok(client.dispose().await?)
}

async fn sessions_are_accepted_by_id_and_next_available() -> Done {
    let (mut client, queue) = (connect().await?, take("s"));
    let messages = [("ada", "1"), ("ben", "1"), ("ada", "2"), ("ben", "2")];
    let messages = messages.map(|(session, text)| of_session(session, text)).into();
    send(&mut client, &queue, messages).await?;
    let mut ben = client.accept_session_for_queue(&queue, "ben", Default::default()).await?;
    let mut next = client.accept_next_session_for_queue(&queue, Default::default()).await?;
    assert_eq!((ben.session_id(), next.session_id()), ("ben", "ada"));
    for receiver in [&mut ben, &mut next] {
        for expected in ["1", "2"] {
            let got = receiver.receive_message().await?;
            assert_eq!(text(&got), expected);
            assert_eq!(got.session_id(), Some(receiver.session_id()));
            receiver.complete_message(&got).await?;
        }
        assert!(receiver.receive_message_with_max_wait_time(A_MOMENT).await?.is_none());
    }
    let mut other = connect().await?;
    let why = refused(other.accept_session_for_queue(&queue, "ben", Default::default()).await);
    assert!(why.contains("session-cannot-be-locked"), "{why}");
    ben.dispose().await?;
    let ben = other.accept_session_for_queue(&queue, "ben", Default::default()).await?;
    assert_eq!(ben.session_id(), "ben");
    other.dispose().await?;
    Ok(client.dispose().await?)
}

async fn a_session_keeps_its_state_and_its_lock() -> Done {
    let (mut client, queue) = (connect().await?, take("short"));
    let options = ServiceBusSessionReceiverOptions::default;
    let mut receiver = client.accept_session_for_queue(&queue, "ada", options()).await?;
    // The client cannot read the answer of a session without state, which is null.
    receiver.set_session_state(b"half done".to_vec()).await?;
    let (began, first) = (Instant::now(), receiver.session_locked_until());
    while began.elapsed() < Duration::from_secs(7) {
        tokio::time::sleep(Duration::from_secs(2)).await; // the lock's length is 5 s
        receiver.renew_session_lock().await?;
    }
    assert!(receiver.session_locked_until() > first + Duration::from_secs(6));
    assert_eq!(receiver.session_state().await?, b"half done");
    receiver.dispose().await?;
    let mut receiver = client.accept_session_for_queue(&queue, "ada", options()).await?;
    assert_eq!(receiver.session_state().await?, b"half done");
    Ok(client.dispose().await?)
}

async fn a_sessions_messages_are_settled_in_every_way() -> Done {
    let (mut client, queue) = (connect().await?, take("s"));
    let messages = ["1", "2", "3"].map(|text| of_session("ada", text)).into();
    send(&mut client, &queue, messages).await?;
    let mut receiver = client.accept_session_for_queue(&queue, "ada", Default::default()).await?;
    let got = receiver.receive_message().await?;
    receiver.abandon_message(&got, None).await?;
    let got = receiver.receive_message().await?;
    assert_eq!((text(&got).as_str(), got.delivery_count()), ("1", Some(2)));
    let number = got.sequence_number();
    receiver.defer_message(&got, None).await?;
    let got = receiver.receive_message().await?;
    assert_eq!(text(&got), "2");
    receiver.dead_letter_message(&got, Default::default()).await?;
    assert_eq!(peeked(&receiver.peek_messages(10, None).await?), ["1", "3"]);
    let got = receiver.receive_deferred_message(number).await?.expect("the deferred message");
    receiver.complete_message(&got).await?;
    let got = receiver.receive_message().await?;
    assert_eq!(text(&got), "3");
    receiver.complete_message(&got).await?;
    let mut dead = client.create_receiver_for_queue(&queue, dead_letters()).await?;
    let got = dead.receive_message().await?;
    assert_eq!((text(&got).as_str(), got.session_id()), ("2", Some("ada")));
    Ok(client.dispose().await?)
}

async fn rules_of_a_subscription_are_listed_added_and_removed() -> Done {
    let mut client = connect().await?;
    let mut rules = client.create_rule_manager("rules", "gold").await?;
    let listed = rules.get_rules().await?;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].name, "gold");
    let RuleFilter::Sql(filter) = &listed[0].filters else { panic!("{:?}", listed[0]) };
    assert_eq!(filter.expression, "tier = 'gold' AND amount > 10");
    rules.delete_rule("gold").await?;
    let filter = SqlRuleFilter::new("sys.Label = 'wanted'");
    rules.create_rule("wanted", (filter, SqlRuleAction::new("SET sys.To = 'vault'"))).await?;
    let mut messages = ["left out", "wanted"].map(|text| of_session("ada", text));
    messages[1].set_subject("wanted".to_string());
    send(&mut client, "rules", messages.into()).await?;
    let mut receiver =
        client.create_receiver_for_subscription("rules", "gold", Default::default()).await?;
    let got = receiver.receive_message().await?;
    assert_eq!((text(&got).as_str(), got.to()), ("wanted", Some("vault")));
    receiver.complete_message(&got).await?;
    rules.create_rule("all", TrueRuleFilter::new()).await?;
    refused(rules.create_rule("all", TrueRuleFilter::new()).await);
    rules.delete_rule("wanted").await?;
    let names: Vec<_> = rules.get_rules().await?.into_iter().map(|rule| rule.name).collect();
    assert_eq!(names, ["all"]);
    Ok(client.dispose().await?)
}

async fn a_thousand_messages_come_once_and_in_order() -> Done {
    let (mut client, queue) = (connect().await?, take("p"));
    let all: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
    let messages = all.iter().map(|text| ServiceBusMessage::new(text.as_str())).collect();
    send(&mut client, &queue, messages).await?;
    let options = ServiceBusReceiverOptions { prefetch_count: 100, ..Default::default() };
    let mut receiver = client.create_receiver_for_queue(&queue, options).await?;
    let mut got = Vec::new();
    while got.len() < all.len() {
        for message in receiver.receive_messages(50).await? {
            got.push(text(&message));
            receiver.complete_message(&message).await?;
        }
    }
    assert_eq!(got, all);
    assert!(receiver.peek_message(None).await?.is_none());
    Ok(client.dispose().await?)
}

async fn a_wrong_key_and_a_missing_queue_are_told_at_once() -> Done {
    let began = Instant::now();
    let mut client = connect().await?;
    let why = refused(client.create_sender("absent", Default::default()).await);
    assert!(why.contains("absent"), "{why}");
    let why = refused(client.create_receiver_for_queue("absent", Default::default()).await);
    assert!(why.contains("absent"), "{why}");
    let mut stranger = connect_with("WRONG").await?;
    let why = refused(stranger.create_sender(take("p"), Default::default()).await);
    assert!(why.contains("401"), "{why}");
    assert!(began.elapsed() < Duration::from_secs(5), "took {:?}", began.elapsed());
    Ok(client.dispose().await?)
}

type Case = (&'static str, Pin<Box<dyn Future<Output = Done> + Send>>);

macro_rules! cases {
    ($($name:ident)*) => { vec![$((stringify!($name), Box::pin($name()))),*] };
}

// One thread: fe2o3-amqp 0.14 sends a transfer and only then makes ready for its outcome. With more
// threads it loses an outcome that comes within a tenth of a millisecond, and waits for ever.
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let cases: Vec<Case> = cases![
        messages_arrive_with_their_properties_and_are_completed
        abandon_brings_the_message_back_and_counts
        dead_letters_have_their_reason
        a_deferred_message_is_received_by_its_number
        a_scheduled_message_comes_when_due_unless_cancelled
        a_lock_that_is_renewed_lasts
        peek_takes_nothing
        sessions_are_accepted_by_id_and_next_available
        a_session_keeps_its_state_and_its_lock
        a_sessions_messages_are_settled_in_every_way
        rules_of_a_subscription_are_listed_added_and_removed
        a_thousand_messages_come_once_and_in_order
        a_wrong_key_and_a_missing_queue_are_told_at_once
    ];
    let wanted: Vec<String> = env::args().skip(1).collect();
    let mut failed = false;
    for (name, case) in cases {
        if !wanted.is_empty() && !wanted.iter().any(|one| one == name) {
            continue;
        }
        let began = Instant::now();
        let why = match tokio::time::timeout(DEADLINE, tokio::spawn(case)).await {
            Err(_) => Some(format!("not done after {DEADLINE:?}")),
            Ok(Err(panic)) => Some(format!("{panic}")),
            Ok(Ok(Err(error))) => Some(format!("{error:?}")),
            Ok(Ok(Ok(()))) => None,
        };
        let took = began.elapsed().as_millis();
        println!("{}: {name} ({took} ms)", if why.is_none() { "passed" } else { "failed" });
        if let Some(why) = why {
            println!("  {why}");
            failed = true;
        }
    }
    std::process::exit(failed.into());
}
