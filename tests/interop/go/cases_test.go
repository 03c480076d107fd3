// SPDX-License-Identifier: MIT
// Package interop tests Azure's Go client with sessions, against the broker in SESSIONQ_CONNECTION.
// Every case has queues of its own.
package interop

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sb "github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

var connection = os.Getenv("SESSIONQ_CONNECTION")

var taken = map[string]*atomic.Int32{"s": {}, "p": {}, "short": {}, "shortp": {}}

func take(kind string) string { return fmt.Sprintf("%s%d", kind, taken[kind].Add(1)-1) }

func ptr[T any](value T) *T { return &value }

func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

func soon(t *testing.T) context.Context { return within(t, 15*time.Second) }

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func same[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func sameAll[T comparable](t *testing.T, got, want []T) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// Returns a client without retries, so that a case sees the broker's answer.
func connectTo(t *testing.T, connection string) *sb.Client {
	t.Helper()
	return connectWith(t, connection, func(*sb.ClientOptions) {})
}

func connectWith(
	t *testing.T, connection string, change func(*sb.ClientOptions),
) *sb.Client {
	t.Helper()
	options := &sb.ClientOptions{RetryOptions: sb.RetryOptions{MaxRetries: -1}}
	if file := os.Getenv("SESSIONQ_CA"); file != "" {
		pem, err := os.ReadFile(file)
		ok(t, err)
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			t.Fatalf("no certificate in %s", file)
		}
		// by default the client expects a certificate for "localhost:port"
		options.TLSConfig = &tls.Config{RootCAs: roots, ServerName: "localhost"}
	}
	change(options)
	client, err := sb.NewClientFromConnectionString(connection, options)
	ok(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = client.Close(ctx)
	})
	return client
}

func start(t *testing.T) *sb.Client {
	t.Parallel()
	return connectTo(t, connection)
}

func of(session, body string) *sb.Message {
	return &sb.Message{SessionID: &session, Body: []byte(body)}
}

func send(t *testing.T, client *sb.Client, queue string, messages ...*sb.Message) {
	t.Helper()
	sender, err := client.NewSender(queue, nil)
	ok(t, err)
	defer sender.Close(soon(t))
	batch, err := sender.NewMessageBatch(soon(t), nil)
	ok(t, err)
	for _, message := range messages {
		ok(t, batch.AddMessage(message, nil))
	}
	ok(t, sender.SendMessageBatch(soon(t), batch, nil))
}

// Returns a function that waits for the end of the work. Cases call it before their contexts end.
func alongside(action func()) *sync.WaitGroup {
	group := &sync.WaitGroup{}
	group.Add(1)
	go func() {
		defer group.Done()
		action()
	}()
	return group
}

func accept(t *testing.T, client *sb.Client, queue, session string) *sb.SessionReceiver {
	t.Helper()
	receiver, err := client.AcceptSessionForQueue(soon(t), queue, session, nil)
	ok(t, err)
	return receiver
}

func receiver(
	t *testing.T, client *sb.Client, queue string, options *sb.ReceiverOptions,
) *sb.Receiver {
	t.Helper()
	receiver, err := client.NewReceiverForQueue(queue, options)
	ok(t, err)
	return receiver
}

type receives interface {
	ReceiveMessages(
		ctx context.Context, maxMessages int, options *sb.ReceiveMessagesOptions,
	) ([]*sb.ReceivedMessage, error)
}

func receive(t *testing.T, from receives, most int) []*sb.ReceivedMessage {
	t.Helper()
	messages, err := from.ReceiveMessages(soon(t), most, nil)
	ok(t, err)
	return messages
}

// Receives until it has this many. The client returns what it has 20 ms after the first message.
func receiveAll(t *testing.T, from receives, count int) []*sb.ReceivedMessage {
	t.Helper()
	messages := []*sb.ReceivedMessage{}
	for len(messages) < count {
		messages = append(messages, receive(t, from, count-len(messages))...)
	}
	return messages
}

func one(t *testing.T, from receives) *sb.ReceivedMessage {
	t.Helper()
	messages := receive(t, from, 1)
	same(t, len(messages), 1)
	return messages[0]
}

func nothing(t *testing.T, from receives) {
	t.Helper()
	messages, err := from.ReceiveMessages(within(t, 300*time.Millisecond), 1, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v and %v", bodies(messages), err)
	}
}

func bodies(messages []*sb.ReceivedMessage) []string {
	all := []string{}
	for _, message := range messages {
		all = append(all, string(message.Body))
	}
	return all
}

func hasCode(t *testing.T, err error, code sb.Code) {
	t.Helper()
	var failure *sb.Error
	if !errors.As(err, &failure) || failure.Code != code {
		t.Fatalf("got %v, want code %s", err, code)
	}
}

func says(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Fatalf("got %v, want '%s'", err, text)
	}
}

func TestAcceptTheNextSessionReceiveComplete(t *testing.T) {
	client, queue := start(t), take("s")
	send(t, client, queue, of("a", "one"))
	receiver, err := client.AcceptNextSessionForQueue(soon(t), queue, nil)
	ok(t, err)
	same(t, receiver.SessionID(), "a")
	if time.Until(receiver.LockedUntil()) < 30*time.Second {
		t.Fatalf("locked until %v", receiver.LockedUntil())
	}
	message := one(t, receiver)
	same(t, string(message.Body), "one")
	same(t, *message.SessionID, "a")
	same(t, message.DeliveryCount, 1) // this client also counts the present delivery
	same(t, *message.SequenceNumber, 1)
	ok(t, receiver.CompleteMessage(soon(t), message, nil))
	nothing(t, receiver)
	ok(t, receiver.Close(soon(t)))
}

func TestAcceptANamedSessionThatHasNoMessagesYet(t *testing.T) {
	client, queue := start(t), take("s")
	receiver := accept(t, client, queue, "later")
	send(t, client, queue, of("later", "one"))
	sameAll(t, bodies(receive(t, receiver, 1)), []string{"one"})
}

func TestTheSessionWithTheEmptyIDIsASessionLikeOthers(t *testing.T) {
	client, queue := start(t), take("s")
	send(t, client, queue, of("", "one"))
	receiver := accept(t, client, queue, "")
	same(t, receiver.SessionID(), "")
	sameAll(t, bodies(receive(t, receiver, 1)), []string{"one"})
}

// The client asks the broker to answer earlier than its own timeout, by a random part of up to 1 %.
func TestAcceptWithNothingThereEndsWithATimeOut(t *testing.T) {
	client, queue := start(t), take("s")
	for attempt := 0; attempt < 8; attempt++ {
		_, err := client.AcceptNextSessionForQueue(within(t, time.Second), queue, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			hasCode(t, err, sb.CodeTimeout)
			return
		}
	}
	t.Fatal("the broker never answered first")
}

func TestAClientThatWaitsForTheNextSessionGetsOneWhenItAppears(t *testing.T) {
	client, queue := start(t), take("s")
	sending := alongside(func() {
		time.Sleep(300 * time.Millisecond)
		send(t, client, queue, of("late", "one"))
	})
	defer sending.Wait()
	receiver, err := client.AcceptNextSessionForQueue(soon(t), queue, nil)
	ok(t, err)
	same(t, receiver.SessionID(), "late")
}

func TestTwoClientsCompeteForOneSession(t *testing.T) {
	client, queue := start(t), take("s")
	other := connectTo(t, connection)
	send(t, client, queue, of("a", "one"))
	first := accept(t, client, queue, "a")
	_, err := other.AcceptSessionForQueue(soon(t), queue, "a", nil)
	says(t, err, "com.microsoft:session-cannot-be-locked")
	same(t, string(one(t, first).Body), "one")
	ok(t, first.Close(soon(t)))
	second := accept(t, other, queue, "a")
	again := one(t, second)
	same(t, again.DeliveryCount, 1) // leaving is not a failed delivery
	ok(t, second.CompleteMessage(soon(t), again, nil))
}

func TestReceiveInOrderAcrossTwoSessions(t *testing.T) {
	client, queue := start(t), take("s")
	for i := 0; i < 10; i++ {
		send(t, client, queue, of("a", fmt.Sprint(i)), of("b", fmt.Sprint(100+i)))
	}
	for session, first := range map[string]int{"a": 0, "b": 100} {
		receiver := accept(t, client, queue, session)
		for received := 0; received < 10; received++ {
			message := one(t, receiver)
			same(t, string(message.Body), fmt.Sprint(first+received))
			ok(t, receiver.CompleteMessage(soon(t), message, nil))
		}
		ok(t, receiver.Close(soon(t)))
	}
}

// The client has no subscription. Its stream is a receiver in a loop.
func TestStreamingReceive(t *testing.T) {
	client, queue := start(t), take("s")
	messages := []*sb.Message{}
	for i := 0; i < 50; i++ {
		messages = append(messages, of("a", fmt.Sprint(i)))
	}
	send(t, client, queue, messages...)
	receiver := accept(t, client, queue, "a")
	for received := 0; received < 50; received++ {
		message := one(t, receiver)
		same(t, string(message.Body), fmt.Sprint(received))
		ok(t, receiver.CompleteMessage(soon(t), message, nil))
	}
}

// Between two calls the client releases one by one what it has not returned, while later messages
// arrive, so the order is lost. Cases in order ask for one message at a time.
func TestReceiveWhileMessagesArrive(t *testing.T) {
	client, queue := start(t), take("s")
	receiver := accept(t, client, queue, "a")
	sending := alongside(func() {
		for i := 0; i < 50; i++ {
			send(t, client, queue, of("a", fmt.Sprint(i)))
		}
	})
	defer sending.Wait()
	seen := map[string]bool{}
	for len(seen) < 50 {
		for _, message := range receive(t, receiver, 10) {
			same(t, seen[string(message.Body)], false)
			seen[string(message.Body)] = true
			same(t, message.DeliveryCount, 1)
			ok(t, receiver.CompleteMessage(soon(t), message, nil))
		}
	}
	nothing(t, receiver)
}

// After the last call the client releases new messages. The order stays and no delivery is counted.
func TestWhatIsNotAskedForAnyMoreIsGivenBack(t *testing.T) {
	client, queue := start(t), take("s")
	receiver := accept(t, client, queue, "a")
	nothing(t, receiver) // leaves credit behind
	send(t, client, queue, of("a", "one"), of("a", "two"))
	time.Sleep(300 * time.Millisecond)
	message := one(t, receiver)
	same(t, string(message.Body), "one")
	same(t, message.DeliveryCount, 1)
	ok(t, receiver.CompleteMessage(soon(t), message, nil))
	sameAll(t, bodies(receive(t, receiver, 1)), []string{"two"})
}

func TestAbandonBringsTheSameMessageAgainBeforeLaterOnes(t *testing.T) {
	client, queue := start(t), take("s")
	send(t, client, queue, of("a", "one"), of("a", "two"))
	receiver := accept(t, client, queue, "a")
	tried := &sb.AbandonMessageOptions{PropertiesToModify: map[string]any{"tried": "once"}}
	ok(t, receiver.AbandonMessage(soon(t), one(t, receiver), tried))
	again := one(t, receiver)
	same(t, string(again.Body), "one")
	same(t, again.DeliveryCount, 2)
	same(t, again.ApplicationProperties["tried"], any("once"))
	ok(t, receiver.CompleteMessage(soon(t), again, nil))
	sameAll(t, bodies(receive(t, receiver, 1)), []string{"two"})
}

func TestDeferReceiveDeferredComplete(t *testing.T) {
	client, queue := start(t), take("s")
	send(t, client, queue, of("a", "one"), of("a", "two"))
	receiver := accept(t, client, queue, "a")
	message := one(t, receiver)
	ok(t, receiver.DeferMessage(soon(t), message, nil))
	sameAll(t, bodies(receive(t, receiver, 5)), []string{"two"})
	deferred, err := receiver.ReceiveDeferredMessages(soon(t), []int64{*message.SequenceNumber}, nil)
	ok(t, err)
	sameAll(t, bodies(deferred), []string{"one"})
	ok(t, receiver.CompleteMessage(soon(t), deferred[0], nil))
	_, err = receiver.ReceiveDeferredMessages(soon(t), []int64{*message.SequenceNumber}, nil)
	hasCode(t, err, sb.CodeNotFound)
}

func TestDeadLetterWithAReason(t *testing.T) {
	client, queue := start(t), take("s")
	send(t, client, queue, of("a", "bad"))
	session := accept(t, client, queue, "a")
	ok(t, session.DeadLetterMessage(soon(t), one(t, session), &sb.DeadLetterOptions{
		Reason: ptr("reason"), ErrorDescription: ptr("description"),
		PropertiesToModify: map[string]any{"extra": int64(7)}}))
	graveyard := receiver(t, client, queue, &sb.ReceiverOptions{SubQueue: sb.SubQueueDeadLetter})
	dead := one(t, graveyard)
	same(t, string(dead.Body), "bad")
	same(t, *dead.DeadLetterReason, "reason")
	same(t, *dead.DeadLetterErrorDescription, "description")
	same(t, dead.ApplicationProperties["extra"], any(int64(7)))
	ok(t, graveyard.RenewMessageLock(soon(t), dead, nil))
	ok(t, graveyard.CompleteMessage(soon(t), dead, nil))
	nothing(t, graveyard)
}

// All that this client shows of a message, but for what a redrive is to change.
func contentOf(t *testing.T, message *sb.ReceivedMessage) string {
	t.Helper()
	raw := message.RawAMQPMessage
	id, properties := message.MessageID, map[string]any{}
	for name, value := range raw.ApplicationProperties {
		if name == "sessionq-redrive-message-id" {
			id = value.(string)
		} else if !strings.HasPrefix(name, "sessionq-redrive-") {
			properties[name] = value
		}
	}
	own := *raw.Properties
	own.MessageID, own.CreationTime, own.AbsoluteExpiryTime = nil, nil, nil
	shown, err := json.Marshal(own)
	ok(t, err)
	return fmt.Sprintf("%s %s %#v %#v %#v %v %v %#v", id, shown, raw.Body, properties,
		raw.MessageAnnotations["x-of-mine"], raw.Header.Durable, raw.Header.Priority, raw.Footer)
}

func TestARedrivenMessageIsReceivedAsItWasSent(t *testing.T) {
	client, queue := start(t), take("s")
	bodies := []sb.AMQPAnnotatedMessageBody{
		{Data: [][]byte{[]byte("one"), {0, 255}}},
		{Value: "grüße"},
		{Value: int32(-5)},
		{Sequence: [][]any{{int64(1), "two"}, {true}}},
	}
	sender, err := client.NewSender(queue, nil)
	ok(t, err)
	defer sender.Close(soon(t))
	for number, body := range bodies {
		ok(t, sender.SendAMQPAnnotatedMessage(soon(t), &sb.AMQPAnnotatedMessage{
			Body:   body,
			Header: &sb.AMQPAnnotatedMessageHeader{Durable: true, Priority: 3},
			Properties: &sb.AMQPAnnotatedMessageProperties{GroupID: ptr("a"),
				MessageID: fmt.Sprint("id", number), CorrelationID: uint64(7), UserID: []byte("me"),
				ContentEncoding: ptr("gzip"), GroupSequence: ptr(uint32(9))},
			ApplicationProperties: map[string]any{"int32": int32(5), "uint8": uint8(6),
				"float": float32(0.5), "text": "grüße", "yes": true, "at": time.UnixMilli(1e12).UTC()},
			MessageAnnotations: map[any]any{"x-of-mine": int16(4)},
			Footer:             map[any]any{"x-end": int64(1)},
		}, nil))
	}
	session := accept(t, client, queue, "a")
	var before, after []string
	for range bodies {
		message := one(t, session)
		before = append(before, contentOf(t, message))
		ok(t, session.DeadLetterMessage(soon(t), message,
			&sb.DeadLetterOptions{Reason: ptr("reason"), ErrorDescription: ptr("description")}))
	}
	ok(t, session.Close(soon(t)))
	command := []string{"dead-letters", "redrive", queue}
	if file := os.Getenv("SESSIONQ_CA"); file != "" {
		command = append([]string{"--ca-file", file}, command...)
	}
	ok(t, exec.CommandContext(soon(t), os.Getenv("SESSIONQ_COMMAND"), command...).Run())
	session = accept(t, client, queue, "a")
	for range bodies {
		message := one(t, session)
		after = append(after, contentOf(t, message))
		ok(t, session.CompleteMessage(soon(t), message, nil))
	}
	sameAll(t, after, before)
}

func TestAMessageThatIsAbandonedTooOftenIsDeadLettered(t *testing.T) {
	client, queue := start(t), take("p")
	send(t, client, queue, &sb.Message{Body: []byte("poison")})
	live := receiver(t, client, queue, nil)
	for i := uint32(1); i <= 10; i++ {
		message := one(t, live)
		same(t, message.DeliveryCount, i)
		ok(t, live.AbandonMessage(soon(t), message, nil))
	}
	graveyard := receiver(t, client, queue, &sb.ReceiverOptions{SubQueue: sb.SubQueueDeadLetter})
	dead := one(t, graveyard)
	same(t, *dead.DeadLetterReason, "MaxDeliveryCountExceeded")
	ok(t, graveyard.CompleteMessage(soon(t), dead, nil))
}

func TestSessionState(t *testing.T) {
	client, queue := start(t), take("s")
	receiver := accept(t, client, queue, "a")
	holds := func(from *sb.SessionReceiver, want []byte) {
		t.Helper()
		state, err := from.GetSessionState(soon(t), nil)
		ok(t, err)
		if !bytes.Equal(state, want) {
			t.Fatalf("got %v, want %v", state, want)
		}
	}
	holds(receiver, nil)
	ok(t, receiver.SetSessionState(soon(t), []byte{3, 0, 255}, nil))
	holds(receiver, []byte{3, 0, 255})
	ok(t, receiver.Close(soon(t)))
	again := accept(t, client, queue, "a")
	holds(again, []byte{3, 0, 255})
	ok(t, again.SetSessionState(soon(t), nil, nil))
	holds(again, nil)
}

func TestRenewTheLock(t *testing.T) {
	client, queue := start(t), take("s")
	receiver := accept(t, client, queue, "a")
	before := receiver.LockedUntil()
	time.Sleep(50 * time.Millisecond)
	ok(t, receiver.RenewSessionLock(soon(t), nil))
	if !receiver.LockedUntil().After(before) {
		t.Fatalf("%v, then %v", before, receiver.LockedUntil())
	}
}

func TestALockThatIsRenewedLastsLongerThanItWasGivenFor(t *testing.T) {
	client, queue := start(t), take("short")
	send(t, client, queue, of("a", "one"))
	receiver := accept(t, client, queue, "a")
	message := one(t, receiver)
	for i := 0; i < 3; i++ {
		time.Sleep(2500 * time.Millisecond)
		ok(t, receiver.RenewSessionLock(soon(t), nil))
	}
	ok(t, receiver.CompleteMessage(soon(t), message, nil))
}

func TestALockThatIsNotRenewedIsLost(t *testing.T) {
	client, queue := start(t), take("short")
	send(t, client, queue, of("a", "one"))
	receiver := accept(t, client, queue, "a")
	message := one(t, receiver)
	time.Sleep(6500 * time.Millisecond)
	hasCode(t, receiver.RenewSessionLock(soon(t), nil), sb.CodeLockLost)
	// on this error the client retries for 45 seconds
	if receiver.CompleteMessage(within(t, time.Second), message, nil) == nil {
		t.Fatal("completed without a lock")
	}
	_ = receiver.Close(soon(t))
	again := one(t, accept(t, client, queue, "a"))
	same(t, string(again.Body), "one")
	same(t, again.DeliveryCount, 2)
}

func TestAMessagesOwnLockIsLostAsWell(t *testing.T) {
	client, queue := start(t), take("shortp")
	send(t, client, queue, &sb.Message{Body: []byte("one")})
	plain := receiver(t, client, queue, nil)
	message := one(t, plain)
	time.Sleep(6 * time.Second)
	hasCode(t, plain.CompleteMessage(soon(t), message, nil), sb.CodeLockLost)
	again := one(t, plain)
	same(t, again.DeliveryCount, 2)
	ok(t, plain.CompleteMessage(soon(t), again, nil))
}

func TestPeekTakesNothing(t *testing.T) {
	client, queue := start(t), take("s")
	send(t, client, queue, of("a", "1"), of("b", "2"), of("a", "3"))
	receiver := accept(t, client, queue, "a")
	for _, want := range [][]string{{"1", "3"}, {}} {
		peeked, err := receiver.PeekMessages(soon(t), 10, nil)
		ok(t, err)
		sameAll(t, bodies(peeked), want)
	}
	message := one(t, receiver)
	same(t, string(message.Body), "1")
	same(t, message.DeliveryCount, 1)
}

func TestScheduleAndCancel(t *testing.T) {
	client, queue := start(t), take("s")
	sender, err := client.NewSender(queue, nil)
	ok(t, err)
	first, err := sender.ScheduleMessages(
		soon(t), []*sb.Message{of("a", "soon")}, time.Now().Add(1500*time.Millisecond), nil)
	ok(t, err)
	same(t, len(first), 1)
	later, err := sender.ScheduleMessages(
		soon(t), []*sb.Message{of("a", "x"), of("a", "y")}, time.Now().Add(time.Minute), nil)
	ok(t, err)
	same(t, len(later), 2)
	receiver := accept(t, client, queue, "a")
	peeked, err := receiver.PeekMessages(soon(t), 10, nil)
	ok(t, err)
	for _, message := range peeked {
		same(t, message.State, sb.MessageStateScheduled)
	}
	same(t, len(peeked), 3)
	ok(t, sender.CancelScheduledMessages(soon(t), later, nil))
	sameAll(t, bodies(receive(t, receiver, 2)), []string{"soon"})
	left, err := receiver.PeekMessages(
		soon(t), 10, &sb.PeekMessagesOptions{FromSequenceNumber: &later[0]})
	ok(t, err)
	for _, message := range left { // a scheduled message gets a new number when it is due
		same(t, string(message.Body), "soon")
	}
}

func TestSendsOneAndABatch(t *testing.T) {
	client, queue := start(t), take("s")
	sender, err := client.NewSender(queue, nil)
	ok(t, err)
	ok(t, sender.SendMessage(soon(t), of("a", "1"), nil))
	batch, err := sender.NewMessageBatch(soon(t), nil)
	ok(t, err)
	numbers := map[string]any{"1": nil} // of messages not received yet
	for i := 2; i <= 40; i++ {
		message := of("a", fmt.Sprint(i))
		numbers[string(message.Body)] = int64(i)
		message.MessageID = ptr(fmt.Sprintf("id-%d", i))
		message.ApplicationProperties = map[string]any{"number": int64(i)}
		ok(t, batch.AddMessage(message, nil))
	}
	ok(t, sender.SendMessageBatch(soon(t), batch, nil))
	receiver := accept(t, client, queue, "a")
	for len(numbers) > 0 {
		for _, message := range receive(t, receiver, 40) {
			body := string(message.Body)
			number, isExpected := numbers[body]
			same(t, isExpected, true)
			delete(numbers, body)
			same(t, message.ApplicationProperties["number"], number)
			if number != nil {
				same(t, message.MessageID, "id-"+body)
			}
			ok(t, receiver.CompleteMessage(soon(t), message, nil))
		}
	}
}

func TestABatchThatIsFullSaysSo(t *testing.T) {
	client, queue := start(t), take("s")
	sender, err := client.NewSender(queue, nil)
	ok(t, err)
	batch, err := sender.NewMessageBatch(soon(t), &sb.MessageBatchOptions{MaxBytes: 1000})
	ok(t, err)
	ok(t, batch.AddMessage(of("a", strings.Repeat("x", 400)), nil))
	err = batch.AddMessage(of("a", strings.Repeat("x", 600)), nil)
	if !errors.Is(err, sb.ErrMessageTooLarge) {
		t.Fatal(err)
	}
	ok(t, sender.SendMessageBatch(soon(t), batch, nil))
	same(t, len(one(t, accept(t, client, queue, "a")).Body), 400)
}

func TestABatchOfTwoSessionsReachesBoth(t *testing.T) {
	client, queue := start(t), take("s")
	send(t, client, queue, of("a", "1"), of("b", "2"))
	for session, body := range map[string]string{"a": "1", "b": "2"} {
		sameAll(t, bodies(receive(t, accept(t, client, queue, session), 1)), []string{body})
	}
}

func TestLargeMessagesAndEveryField(t *testing.T) {
	client, queue := start(t), take("s")
	sender, err := client.NewSender(queue, nil)
	ok(t, err)
	ok(t, sender.SendMessage(soon(t), &sb.Message{
		Body: bytes.Repeat([]byte{7}, 300000), SessionID: ptr("a"), MessageID: ptr("id"),
		CorrelationID: ptr("c"), Subject: ptr("s"), To: ptr("t"),
		ReplyTo: ptr("r"), ReplyToSessionID: ptr("rs"), ContentType: ptr("x/y"),
		TimeToLive: ptr(time.Hour),
		ApplicationProperties: map[string]any{
			"text": "x", "number": 1.5, "flag": true,
			"when": time.UnixMilli(1700000000000).UTC(), "none": nil,
		}}, nil))
	message := one(t, accept(t, client, queue, "a"))
	same(t, len(message.Body), 300000)
	for _, pair := range [][2]string{
		{message.MessageID, "id"}, {*message.CorrelationID, "c"}, {*message.Subject, "s"},
		{*message.To, "t"}, {*message.ReplyTo, "r"}, {*message.ReplyToSessionID, "rs"},
		{*message.ContentType, "x/y"},
	} {
		same(t, pair[0], pair[1])
	}
	same(t, *message.TimeToLive, time.Hour)
	same(t, message.ApplicationProperties["text"], any("x"))
	same(t, message.ApplicationProperties["number"], any(1.5))
	same(t, message.ApplicationProperties["flag"], any(true))
	same(t, message.ApplicationProperties["when"].(time.Time).UnixMilli(), 1700000000000)
	if time.Until(*message.ExpiresAt) <= 0 || time.Since(*message.EnqueuedTime) > time.Minute {
		t.Fatalf("enqueued %v, expires %v", message.EnqueuedTime, message.ExpiresAt)
	}
}

func TestReceiveAndDelete(t *testing.T) {
	client, queue := start(t), take("s")
	send(t, client, queue, of("a", "1"), of("a", "2"))
	receiver, err := client.AcceptSessionForQueue(soon(t), queue, "a",
		&sb.SessionReceiverOptions{ReceiveMode: sb.ReceiveModeReceiveAndDelete})
	ok(t, err)
	sameAll(t, bodies(receiveAll(t, receiver, 2)), []string{"1", "2"})
	ok(t, receiver.Close(soon(t)))
	nothing(t, accept(t, client, queue, "a"))
}

func TestQueuesWithoutSessions(t *testing.T) {
	client, queue := start(t), take("p")
	send(t, client, queue, &sb.Message{Body: []byte("1")}, &sb.Message{Body: []byte("2")})
	plain := receiver(t, client, queue, nil)
	first := one(t, plain)
	ok(t, plain.DeferMessage(soon(t), first, nil))
	ok(t, plain.CompleteMessage(soon(t), one(t, plain), nil))
	deferred, err := plain.ReceiveDeferredMessages(soon(t), []int64{*first.SequenceNumber}, nil)
	ok(t, err)
	sameAll(t, bodies(deferred), []string{"1"})
	ok(t, plain.DeadLetterMessage(soon(t), deferred[0], &sb.DeadLetterOptions{Reason: ptr("late")}))
	graveyard := receiver(t, client, queue, &sb.ReceiverOptions{
		SubQueue: sb.SubQueueDeadLetter, ReceiveMode: sb.ReceiveModeReceiveAndDelete})
	same(t, *one(t, graveyard).DeadLetterReason, "late")
}

func TestRefusals(t *testing.T) {
	client, queue, plain := start(t), take("s"), take("p")
	_, err := client.AcceptNextSessionForQueue(soon(t), "nosuch", nil)
	hasCode(t, err, sb.CodeNotFound)
	_, err = client.AcceptNextSessionForQueue(soon(t), plain, nil)
	says(t, err, "does not require sessions")
	_, err = receiver(t, client, queue, nil).ReceiveMessages(soon(t), 1, nil)
	says(t, err, "requires sessions")
	sender, err := client.NewSender(queue, nil)
	ok(t, err)
	says(t, sender.SendMessage(soon(t), &sb.Message{Body: []byte("x")}, nil), "SessionId was not set")
}

func TestAWrongKeyIsRefused(t *testing.T) {
	t.Parallel()
	wrong := connectTo(t, strings.Replace(connection, "SAS_KEY_VALUE", "WRONG", 1))
	sender, err := wrong.NewSender(take("s"), nil)
	ok(t, err)
	hasCode(t, sender.SendMessage(soon(t), of("a", "x"), nil), sb.CodeUnauthorizedAccess)
}

func TestATopicsSubscriptions(t *testing.T) {
	client := start(t)
	notice := func(session, body, subject, tier string, amount int64) *sb.Message {
		message := of(session, body)
		message.Subject = &subject
		message.ApplicationProperties = map[string]any{"tier": tier, "amount": amount}
		return message
	}
	send(t, client, "filters", notice("a", "1", "blue", "gold", 5),
		notice("a", "2", "red", "gold", 50), notice("b", "3", "blue", "tin", 50))
	session, err := client.AcceptSessionForSubscription(soon(t), "filters", "sessions", "a", nil)
	ok(t, err)
	sameAll(t, bodies(receiveAll(t, session, 2)), []string{"1", "2"})
	wanted := map[string][]string{"plain": {"1", "2", "3"}, "gold": {"2"}, "blue": {"1"}}
	for subscription, expected := range wanted {
		receiver, err := client.NewReceiverForSubscription("filters", subscription,
			&sb.ReceiverOptions{ReceiveMode: sb.ReceiveModeReceiveAndDelete})
		ok(t, err)
		sameAll(t, bodies(receiveAll(t, receiver, len(expected))), expected)
		nothing(t, receiver)
	}
}

func TestListSessions(t *testing.T) {
	client, queue := start(t), take("s")
	want := []string{}
	for i := 0; i < 120; i++ { // more than a page
		session := fmt.Sprintf("session-%03d", i)
		want = append(want, session)
		send(t, client, queue, of(session, "x"))
	}
	listed := map[string]bool{}
	for pager := client.NewListSessionsForQueuePager(queue, nil); pager.More(); {
		page, err := pager.NextPage(soon(t))
		ok(t, err)
		for _, session := range page.Sessions {
			listed[session] = true
		}
	}
	same(t, len(listed), len(want))
	for _, session := range want {
		same(t, listed[session], true)
	}
	withStateSince := func(since time.Time) []string {
		options := &sb.ListSessionsOptions{SessionStateUpdatedAfter: &since}
		page, err := client.NewListSessionsForQueuePager(queue, options).NextPage(soon(t))
		ok(t, err)
		return page.Sessions
	}
	hourAgo := time.Now().Add(-time.Hour)
	same(t, len(withStateSince(hourAgo)), 0)
	receiver, err := client.AcceptSessionForQueue(soon(t), queue, "session-007", nil)
	ok(t, err)
	ok(t, receiver.SetSessionState(soon(t), []byte("stirred"), nil))
	ok(t, receiver.Close(soon(t)))
	sameAll(t, withStateSince(hourAgo), []string{"session-007"})
	same(t, len(withStateSince(hourAgo.Add(2*time.Hour))), 0)
}

// The client has no tracing of its own. An application writes what OpenTelemetry's propagator does.
// The trace goes on in a sessionq handler (trace_relay), and from there back to the client.
func TestATraceGoesThroughAHandlerOfSessionqAndBack(t *testing.T) {
	client, from, to := start(t), take("s"), take("s")
	relay := exec.Command(os.Getenv("SESSIONQ_TRACE_RELAY"), from, to)
	relay.Stderr = os.Stderr
	input, err := relay.StdinPipe()
	ok(t, err)
	output, err := relay.StdoutPipe()
	ok(t, err)
	ok(t, relay.Start())
	defer relay.Process.Kill()
	ready, err := bufio.NewReader(output).ReadString('\n')
	ok(t, err)
	same(t, ready, "ready\n")

	const traceID = "0af7651916cd43dd8448eb211c80319c"
	const written = "00-" + traceID + "-b7ad6b7169203331-01"
	older, newer := of("older", "one"), of("newer", "one")
	older.ApplicationProperties = map[string]any{"Diagnostic-Id": written} // as Azure's clients did
	newer.ApplicationProperties = map[string]any{"traceparent": written, "tracestate": "a=1"}
	send(t, client, from, older)
	send(t, client, from, newer)
	got := map[string]*sb.ReceivedMessage{}
	for _, session := range []string{"older", "newer"} {
		receiver := accept(t, client, to, session)
		got[session] = one(t, receiver)
		ok(t, receiver.CompleteMessage(soon(t), got[session], nil))
	}
	ok(t, input.Close())
	ok(t, relay.Wait())

	for session, message := range got {
		var seen struct{ Body, Sent, Handler string }
		ok(t, json.Unmarshal(message.Body, &seen))
		same(t, seen.Body, "one")
		same(t, seen.Sent, written)
		same(t, seen.Handler[3:35], traceID) // a span of the same trace
		properties := message.ApplicationProperties
		traceparent := properties["traceparent"].(string)
		same(t, traceparent[3:35], traceID) // and what it sent, another one
		if seen.Handler == written || traceparent == written || traceparent == seen.Handler {
			t.Fatalf("%s: no span of its own: %v, sent with %v", session, seen, traceparent)
		}
		same(t, properties["Diagnostic-Id"], any(traceparent))
	}
	same(t, got["newer"].ApplicationProperties["tracestate"], any("a=1"))
}

func TestTwentyReceiversAtOnceEachWithASessionOfItsOwn(t *testing.T) {
	client, queue := start(t), take("s")
	messages := []*sb.Message{}
	for i := 0; i < 20; i++ {
		messages = append(messages, of(fmt.Sprintf("session-%d", i), fmt.Sprint(i)))
	}
	send(t, client, queue, messages...)
	var seen sync.Map
	var group sync.WaitGroup
	for i := 0; i < 20; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			receiver, err := client.AcceptNextSessionForQueue(soon(t), queue, nil)
			if err != nil {
				t.Error(err)
				return
			}
			messages, err := receiver.ReceiveMessages(soon(t), 1, nil)
			if err != nil || len(messages) != 1 ||
				receiver.SessionID() != "session-"+string(messages[0].Body) {
				t.Errorf("%s: %v, %v", receiver.SessionID(), bodies(messages), err)
				return
			}
			seen.Store(receiver.SessionID(), true)
			if err := receiver.CompleteMessage(soon(t), messages[0], nil); err != nil {
				t.Error(err)
			}
		}()
	}
	group.Wait()
	count := 0
	seen.Range(func(any, any) bool { count++; return true })
	same(t, count, 20)
}
