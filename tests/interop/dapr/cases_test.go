// SPDX-License-Identifier: MIT
// Package dapr tests Dapr's Service Bus components, used as a library, against the broker in
// SESSIONQ_CONNECTION. Every case has queues or topics of its own. What is left in them is read
// with Azure's client.
package dapr

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sb "github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/dapr/components-contrib/bindings"
	binding "github.com/dapr/components-contrib/bindings/azure/servicebusqueues"
	"github.com/dapr/components-contrib/metadata"
	"github.com/dapr/components-contrib/pubsub"
	"github.com/dapr/components-contrib/pubsub/azure/servicebus/queues"
	"github.com/dapr/components-contrib/pubsub/azure/servicebus/topics"
	"github.com/dapr/kit/logger"
)

var connection = os.Getenv("SESSIONQ_CONNECTION")

var taken = map[string]*atomic.Int32{"p": {}, "shortp": {}, "t": {}}

func take(kind string) string { return fmt.Sprintf("%s%d", kind, taken[kind].Add(1)-1) }

const soon = 20 * time.Second

// Bounds one step of a case.
func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, holds bool, what string, about ...any) {
	t.Helper()
	if !holds {
		t.Fatalf(what, about...)
	}
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func numbers(count int) []string {
	all := []string{}
	for i := range count {
		all = append(all, fmt.Sprint(i))
	}
	return all
}

// What handlers saw.
type seen struct {
	mutex sync.Mutex
	all   []*pubsub.NewMessage
}

func (s *seen) add(message *pubsub.NewMessage) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.all = append(s.all, message)
}

func (s *seen) messages() []*pubsub.NewMessage {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.all)
}

func (s *seen) texts() []string { return texts(s.messages()) }

func texts(messages []*pubsub.NewMessage) []string {
	all := []string{}
	for _, message := range messages {
		all = append(all, string(message.Data))
	}
	return all
}

// Waits until this many came, and a moment longer, so that one too many is seen as well.
func (s *seen) wait(t *testing.T, count int) []*pubsub.NewMessage {
	t.Helper()
	eventually(t, func() bool { return len(s.messages()) >= count },
		func() string { return fmt.Sprintf("%d of %d came: %v", len(s.messages()), count, s.texts()) })
	time.Sleep(500 * time.Millisecond)
	if got := s.messages(); len(got) != count {
		t.Fatalf("%d came, want %d: %v", len(got), count, s.texts())
	}
	return s.messages()
}

func eventually(t *testing.T, holds func() bool, what func() string) {
	t.Helper()
	for end := time.Now().Add(soon); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what())
		}
	}
}

func base(more ...string) metadata.Base {
	all := map[string]string{
		"connectionString":           connection,
		"disableEntityManagement":    "true",
		"timeoutInSec":               "10",
		"minConnectionRecoveryInSec": "1",
		"maxConnectionRecoveryInSec": "1",
	}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return metadata.Base{Properties: all}
}

var log = func() logger.Logger {
	log := logger.NewLogger("dapr")
	log.SetOutputLevel(logger.WarnLevel)
	return log
}()

// A component that publishes and subscribes.
type component struct {
	pubsub.PubSub
	t    *testing.T
	stop context.CancelFunc
	ctx  context.Context
	once sync.Once
}

func start(t *testing.T, bus pubsub.PubSub, more ...string) *component {
	t.Helper()
	ok(t, bus.Init(within(t, soon), pubsub.Metadata{Base: base(more...)}))
	ctx, stop := context.WithCancel(context.Background())
	made := &component{PubSub: bus, t: t, ctx: ctx, stop: stop}
	t.Cleanup(made.close)
	return made
}

func (c *component) close() {
	c.once.Do(func() {
		c.t.Helper()
		closed := make(chan error, 1)
		go func() { closed <- c.Close() }()
		select {
		case err := <-closed:
			c.stop()
			if err != nil {
				c.t.Errorf("close: %v", err)
			}
		case <-time.After(soon):
			c.t.Error("close did not end")
		}
	})
}

func onQueues(t *testing.T, more ...string) *component {
	return start(t, queues.NewAzureServiceBusQueues(log), more...)
}

func onTopics(t *testing.T, subscription string, more ...string) *component {
	return start(t, topics.NewAzureServiceBusTopics(log),
		append(more, "consumerID", subscription)...)
}

func (c *component) publish(to, text string, properties ...string) {
	c.t.Helper()
	ok(c.t, c.tryPublish(to, text, properties...))
}

func (c *component) tryPublish(to, text string, properties ...string) error {
	return c.Publish(within(c.t, soon), &pubsub.PublishRequest{
		Topic: to, Data: []byte(text), Metadata: pairs(properties...),
	})
}

func (c *component) subscribe(to string, handler pubsub.Handler, options ...string) {
	c.t.Helper()
	request := pubsub.SubscribeRequest{Topic: to, Metadata: pairs(options...)}
	ok(c.t, c.Subscribe(c.ctx, request, handler))
}

type bulkSubscriber interface {
	BulkSubscribe(context.Context, pubsub.SubscribeRequest, pubsub.BulkHandler) error
}

func (c *component) bulkSubscribe(
	to string, most int, handler pubsub.BulkHandler, options ...string,
) {
	c.t.Helper()
	request := pubsub.SubscribeRequest{
		Topic: to, Metadata: pairs(options...),
		BulkSubscribeConfig: pubsub.BulkSubscribeConfig{MaxMessagesCount: most},
	}
	ok(c.t, c.PubSub.(bulkSubscriber).BulkSubscribe(c.ctx, request, handler))
}

func (c *component) bulkPublish(
	to string, entries []pubsub.BulkMessageEntry, options ...string,
) (pubsub.BulkPublishResponse, error) {
	return c.PubSub.(pubsub.BulkPublisher).BulkPublish(within(c.t, soon),
		&pubsub.BulkPublishRequest{Topic: to, Entries: entries, Metadata: pairs(options...)})
}

func pairs(all ...string) map[string]string {
	made := map[string]string{}
	for i := 0; i < len(all); i += 2 {
		made[all[i]] = all[i+1]
	}
	return made
}

func azure(t *testing.T) *sb.Client {
	t.Helper()
	client, err := sb.NewClientFromConnectionString(connection, nil)
	ok(t, err)
	t.Cleanup(func() { _ = client.Close(within(t, soon)) })
	return client
}

// Opens a queue, or TOPIC/SUBSCRIPTION, or its dead-letter queue.
func open(t *testing.T, entity string, of sb.SubQueue) *sb.Receiver {
	t.Helper()
	options := &sb.ReceiverOptions{SubQueue: of}
	topic, subscription, isTopic := strings.Cut(entity, "/")
	made, err := azure(t).NewReceiverForQueue(entity, options)
	if isTopic {
		made, err = azure(t).NewReceiverForSubscription(topic, subscription, options)
	}
	ok(t, err)
	return made
}

func peek(t *testing.T, entity string, of sb.SubQueue) []*sb.ReceivedMessage {
	t.Helper()
	left, err := open(t, entity, of).PeekMessages(within(t, soon), 100, nil)
	ok(t, err)
	return left
}

func bodies(messages []*sb.ReceivedMessage) []string {
	all := []string{}
	for _, message := range messages {
		all = append(all, string(message.Body))
	}
	return all
}

// Peeks at a session, which nobody may have locked.
func peekSession(t *testing.T, topic, subscription, id string) []*sb.ReceivedMessage {
	t.Helper()
	session, err := azure(t).AcceptSessionForSubscription(
		within(t, soon), topic, subscription, id, nil)
	ok(t, err)
	defer session.Close(within(t, soon))
	left, err := session.PeekMessages(within(t, soon), 100, nil)
	ok(t, err)
	return left
}

// Closes a component; no message of these sessions may be left.
func (c *component) closeEmpty(topic string, sessions ...string) {
	c.t.Helper()
	c.close()
	for _, id := range sessions {
		same(c.t, bodies(peekSession(c.t, topic, "sessions", id)), []string{})
	}
}

// Waits until a queue holds these messages. The last completion may still be on its way.
func holds(t *testing.T, entity string, want ...string) {
	t.Helper()
	var got []string
	eventually(t, func() bool {
		got = bodies(peek(t, entity, 0))
		return slices.Equal(got, want)
	}, func() string { return fmt.Sprintf("%s holds %v, want %v", entity, got, want) })
}

func session(message *pubsub.NewMessage) string { return message.Metadata["metadata.SessionId"] }

// Azure's client counts the first delivery as 1.
func deliveries(message *pubsub.NewMessage) string {
	return message.Metadata["metadata.DeliveryCount"]
}

func TestWhatIsPublishedArrivesOnceAndInOrder(t *testing.T) {
	t.Parallel()
	queue, got := take("p"), seen{}
	bus := onQueues(t, "maxActiveMessages", "1")
	for _, text := range numbers(30) {
		bus.publish(queue, text)
	}
	bus.subscribe(queue, func(_ context.Context, message *pubsub.NewMessage) error {
		got.add(message)
		return nil
	})
	same(t, texts(got.wait(t, 30)), numbers(30))
	holds(t, queue)
	for _, text := range numbers(5) { // while it waits
		bus.publish(queue, text)
	}
	same(t, texts(got.wait(t, 35)[30:]), numbers(5))
	holds(t, queue)
}

func TestSubscribersShareASubscriptionAndEachSubscriptionHasAll(t *testing.T) {
	t.Parallel()
	const topic = "rules"
	one, two, other := seen{}, seen{}, seen{}
	gate := make(chan struct{})
	for _, subscriber := range []struct {
		name string
		got  *seen
		gate chan struct{}
	}{{"plain", &one, gate}, {"plain", &two, gate}, {"sessions", &other, nil}} {
		options := []string{}
		if subscriber.name == "sessions" {
			options = []string{"requireSessions", "true"}
		}
		onTopics(t, subscriber.name, "maxActiveMessages", "5").subscribe(topic,
			func(_ context.Context, message *pubsub.NewMessage) error {
				subscriber.got.add(message)
				if subscriber.gate != nil {
					<-subscriber.gate // so that no one takes all
				}
				return nil
			}, options...)
	}
	bus := onTopics(t, "plain")
	for _, text := range numbers(20) {
		bus.publish(topic, text, "SessionId", "a")
	}
	eventually(t, func() bool { return len(one.messages()) == 5 && len(two.messages()) == 5 },
		func() string { return fmt.Sprintf("%v and %v", one.texts(), two.texts()) })
	close(gate)
	same(t, texts(other.wait(t, 20)), numbers(20))
	shared := func() []string { return append(one.texts(), two.texts()...) }
	eventually(t, func() bool { return len(shared()) >= 20 },
		func() string { return fmt.Sprint(shared()) })
	holds(t, topic+"/plain")
	want, sorted := numbers(20), shared()
	slices.Sort(want)
	slices.Sort(sorted)
	same(t, sorted, want)
}

func TestEachSessionIsInOrderAndHasOneHandler(t *testing.T) {
	t.Parallel()
	topic, got := take("t"), seen{}
	const sessions, each, atOnce = 6, 8, 3
	bus := onTopics(t, "sessions")
	for i := range each {
		for s := range sessions {
			bus.publish(topic, fmt.Sprint(i), "SessionId", fmt.Sprintf("s%d", s))
		}
	}
	var mutex sync.Mutex
	running, most, broken := map[string]int{}, 0, ""
	full := make(chan struct{})
	bus.subscribe(topic, func(_ context.Context, message *pubsub.NewMessage) error {
		mutex.Lock()
		running[session(message)]++
		if running[session(message)] > 1 {
			broken = session(message) + " has two handlers"
		}
		if len(running) > most {
			if most = len(running); most == atOnce {
				close(full)
			}
		}
		mutex.Unlock()
		select {
		case <-full: // the first sessions wait for each other
		case <-time.After(soon):
		}
		time.Sleep(10 * time.Millisecond)
		got.add(message)
		mutex.Lock()
		if running[session(message)]--; running[session(message)] == 0 {
			delete(running, session(message))
		}
		mutex.Unlock()
		return nil
	}, "requireSessions", "true", "maxConcurrentSessions", fmt.Sprint(atOnce),
		"sessionIdleTimeoutInSec", "1")
	bySession := map[string][]string{}
	for _, message := range got.wait(t, sessions*each) {
		bySession[session(message)] = append(bySession[session(message)], string(message.Data))
	}
	same(t, len(bySession), sessions)
	for s, order := range bySession {
		check(t, slices.Equal(order, numbers(each)), "%s: %v", s, order)
	}
	bus.closeEmpty(topic, slices.Collect(maps.Keys(bySession))...)
	mutex.Lock()
	defer mutex.Unlock()
	same(t, broken, "")
	same(t, most, atOnce)
}

func entry(text, contentType string, properties ...string) pubsub.BulkMessageEntry {
	return pubsub.BulkMessageEntry{
		EntryId: "e" + text, Event: []byte(text), ContentType: contentType,
		Metadata: pairs(properties...),
	}
}

func TestABulkArrivesInBulksAndOneEntryThatFailsComesAgainAlone(t *testing.T) {
	t.Parallel()
	queue := take("p")
	bus := onQueues(t, "maxActiveMessages", "10")
	entries := []pubsub.BulkMessageEntry{}
	for _, text := range numbers(40) {
		entries = append(entries, entry(text, "text/plain", "Label", "n"+text, "color", "red"))
	}
	response, err := bus.bulkPublish(queue, entries)
	ok(t, err)
	same(t, len(response.FailedEntries), 0)
	var mutex sync.Mutex
	sizes, order, again := []int{}, []string{}, []string{}
	bus.bulkSubscribe(queue, 10, func(
		_ context.Context, bulk *pubsub.BulkMessage,
	) ([]pubsub.BulkSubscribeResponseEntry, error) {
		mutex.Lock()
		defer mutex.Unlock()
		sizes = append(sizes, len(bulk.Entries))
		answers := make([]pubsub.BulkSubscribeResponseEntry, len(bulk.Entries))
		var failed error
		for i, one := range bulk.Entries {
			answers[i].EntryId = one.EntryId
			text := string(one.Event)
			if one.Metadata["metadata.Label"] != "n"+text ||
				one.Metadata["metadata.color"] != "red" ||
				one.Metadata["metadata.ContentType"] != "text/plain" {
				text = fmt.Sprintf("%s with %v", text, one.Metadata)
			}
			switch {
			case one.Metadata["metadata.DeliveryCount"] != "1":
				again = append(again, text+" at "+one.Metadata["metadata.DeliveryCount"])
			case text == "7":
				failed = errors.New("on purpose")
				answers[i].Error = failed
				order = append(order, text)
			default:
				order = append(order, text)
			}
		}
		return answers, failed
	})
	all := func() int {
		mutex.Lock()
		defer mutex.Unlock()
		return len(order) + len(again)
	}
	eventually(t, func() bool { return all() >= 41 }, func() string { return fmt.Sprint(all()) })
	time.Sleep(500 * time.Millisecond)
	mutex.Lock()
	defer mutex.Unlock()
	same(t, order, numbers(40))
	same(t, again, []string{"7 at 2"})
	check(t, slices.Max(sizes) > 1 && slices.Max(sizes) <= 10, "sizes: %v", sizes)
	holds(t, queue)
}

func TestABulkForSessionsIsSortedIntoThem(t *testing.T) {
	t.Parallel()
	topic := take("t")
	bus := onTopics(t, "sessions")
	entries := []pubsub.BulkMessageEntry{}
	for _, text := range numbers(12) {
		for _, name := range []string{"a", "b", ""} { // the empty id is one like others
			entries = append(entries, entry(text, "text/plain", "SessionId", name))
		}
	}
	_, err := bus.bulkPublish(topic, entries)
	ok(t, err)
	var mutex sync.Mutex
	bySession, mixed, largest, count := map[string][]string{}, "", 0, 0
	bus.bulkSubscribe(topic, 5, func(
		_ context.Context, bulk *pubsub.BulkMessage,
	) ([]pubsub.BulkSubscribeResponseEntry, error) {
		mutex.Lock()
		defer mutex.Unlock()
		largest = max(largest, len(bulk.Entries))
		for _, one := range bulk.Entries {
			name, has := one.Metadata["metadata.SessionId"]
			if !has || name != bulk.Entries[0].Metadata["metadata.SessionId"] {
				mixed = fmt.Sprint(bulk.Entries)
			}
			bySession[name] = append(bySession[name], string(one.Event))
			count++
		}
		return nil, nil
	}, "requireSessions", "true", "maxConcurrentSessions", "2", "sessionIdleTimeoutInSec", "1")
	eventually(t, func() bool { mutex.Lock(); defer mutex.Unlock(); return count >= 36 },
		func() string { mutex.Lock(); defer mutex.Unlock(); return fmt.Sprint(bySession) })
	time.Sleep(500 * time.Millisecond)
	bus.closeEmpty(topic, "a", "b", "")
	mutex.Lock()
	defer mutex.Unlock()
	same(t, mixed, "")
	check(t, largest > 1 && largest <= 5, "the largest bulk has %d", largest)
	same(t, bySession, map[string][]string{"a": numbers(12), "b": numbers(12), "": numbers(12)})
}

func TestABulkThatCannotBeSentFailsAsAWhole(t *testing.T) {
	t.Parallel()
	queue := take("p")
	bus := onQueues(t)
	large := entry("large", "text/plain")
	large.Event = make([]byte, 200_000) // the component's bound is 128 KiB, unless told otherwise
	entries := []pubsub.BulkMessageEntry{entry("small", "text/plain"), large}
	response, err := bus.bulkPublish(queue, entries)
	check(t, err != nil, "it was sent")
	same(t, len(response.FailedEntries), 2)
	holds(t, queue)
	_, err = bus.bulkPublish(queue, entries, "maxBulkPubBytes", "500000")
	ok(t, err)
	holds(t, queue, "small", string(large.Event))
}

func TestAHandlerThatFailsGetsTheMessageAgainUntilItIsDeadLettered(t *testing.T) {
	t.Parallel()
	topic, got := take("t"), seen{}
	bus := onTopics(t, "plain", "maxActiveMessages", "1")
	bus.publish(topic, "bad", "MessageId", "m1", "color", "red")
	bus.publish(topic, "good")
	bus.subscribe(topic, func(_ context.Context, message *pubsub.NewMessage) error {
		got.add(message)
		if string(message.Data) == "bad" {
			return errors.New("on purpose")
		}
		return nil
	})
	order := []string{}
	for _, message := range got.wait(t, 4) {
		order = append(order, string(message.Data)+deliveries(message))
	}
	same(t, order, []string{"bad1", "bad2", "bad3", "good1"})
	holds(t, topic+"/plain")
	dead := peek(t, topic+"/plain", sb.SubQueueDeadLetter)
	same(t, bodies(dead), []string{"bad"})
	same(t, dead[0].MessageID, "m1")
	same(t, dead[0].ApplicationProperties["color"], "red")
	check(t, dead[0].DeadLetterReason != nil, "no reason")
	same(t, *dead[0].DeadLetterReason, "MaxDeliveryCountExceeded")
}

func TestAMessageThatFailsInASessionHoldsBackLaterOnesOfItOnly(t *testing.T) {
	t.Parallel()
	topic, got := take("t"), seen{}
	bus := onTopics(t, "sessions")
	for _, text := range []string{"bad", "second", "third"} {
		bus.publish(topic, text, "SessionId", "a")
		bus.publish(topic, text, "SessionId", "b")
	}
	bus.subscribe(topic, func(_ context.Context, message *pubsub.NewMessage) error {
		got.add(message)
		if string(message.Data) == "bad" && session(message) == "a" {
			return errors.New("on purpose")
		}
		return nil
	}, "requireSessions", "true")
	bySession := map[string][]string{}
	for _, message := range got.wait(t, 8) {
		bySession[session(message)] = append(bySession[session(message)],
			string(message.Data)+deliveries(message))
	}
	same(t, bySession, map[string][]string{
		"a": {"bad1", "bad2", "bad3", "second1", "third1"}, "b": {"bad1", "second1", "third1"},
	})
	bus.closeEmpty(topic, "a", "b")
	dead := peek(t, topic+"/sessions", sb.SubQueueDeadLetter)
	same(t, bodies(dead), []string{"bad"})
	same(t, *dead[0].SessionID, "a")
}

func TestPropertiesTravel(t *testing.T) {
	t.Parallel()
	topic, got := take("t"), seen{}
	bus := onTopics(t, "sessions")
	sent := map[string]string{
		"MessageId": "m", "CorrelationId": "c", "SessionId": "käse / 1", "PartitionKey": "käse / 1",
		"Label": "l", "ReplyTo": "r", "To": "to", "ContentType": "application/json",
		"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "empty?": "no",
	}
	properties := []string{"ttlInSeconds", "1800"}
	for name, value := range sent {
		properties = append(properties, name, value)
	}
	before := time.Now().Add(-2 * time.Second) // what is received has whole seconds
	bus.publish(topic, `{"a":1}`, properties...)
	bus.publish(topic, "", "SessionId", "bare")
	left := peekSession(t, topic, "sessions", "käse / 1")
	same(t, bodies(left), []string{`{"a":1}`})
	same(t, *left[0].TimeToLive, 30*time.Minute)
	bus.subscribe(topic, func(_ context.Context, message *pubsub.NewMessage) error {
		got.add(message)
		return nil
	}, "requireSessions", "true")
	messages := got.wait(t, 2)
	slices.SortFunc(messages, func(a, b *pubsub.NewMessage) int {
		return strings.Compare(session(b), session(a))
	})
	full, bare := messages[0], messages[1]
	same(t, string(full.Data), `{"a":1}`)
	same(t, full.Topic, topic)
	for name, value := range sent {
		same(t, name+": "+full.Metadata["metadata."+name], name+": "+value)
	}
	same(t, deliveries(full), "1")
	same(t, full.Metadata["metadata.SequenceNumber"], *left[0].SequenceNumber)
	enqueued, err := time.Parse(time.RFC1123, full.Metadata["metadata.EnqueuedTimeUtc"])
	ok(t, err)
	check(t, enqueued.After(before) && enqueued.Before(time.Now()), "enqueued at %s", enqueued)
	locked, err := time.Parse(time.RFC1123, full.Metadata["metadata.LockedUntilUtc"])
	ok(t, err)
	check(t, locked.After(before.Add(50*time.Second)), "locked until %s", locked)
	check(t, full.Metadata["metadata.LockToken"] != "", "no lock token")
	same(t, len(bare.Data), 0)
	for _, name := range []string{"CorrelationId", "Label", "ReplyTo", "To", "ContentType"} {
		value, has := bare.Metadata["metadata."+name]
		check(t, !has, "%s: %s, which was not sent", name, value)
	}
}

func TestAScheduledMessageComesAtItsTime(t *testing.T) {
	t.Parallel()
	queue := take("p")
	bus := onQueues(t, "maxActiveMessages", "1")
	at := time.Now().Add(3 * time.Second).UTC().Truncate(time.Millisecond)
	bus.publish(queue, "later", "ScheduledEnqueueTimeUtc", at.Format(time.RFC3339Nano))
	bus.publish(queue, "now")
	var mutex sync.Mutex
	came, got := map[string]time.Time{}, seen{}
	bus.subscribe(queue, func(_ context.Context, message *pubsub.NewMessage) error {
		mutex.Lock()
		defer mutex.Unlock()
		came[string(message.Data)] = time.Now()
		got.add(message)
		return nil
	})
	messages := got.wait(t, 2)
	same(t, texts(messages), []string{"now", "later"})
	mutex.Lock()
	defer mutex.Unlock()
	check(t, came["now"].Before(at), "now came at %s", came["now"])
	late := came["later"].Sub(at)
	check(t, late >= 0 && late < 3*time.Second, "later came %s after its time", late)
	_, has := messages[0].Metadata["metadata.ScheduledEnqueueTimeUtc"]
	check(t, !has, "now was not scheduled")
	same(t, messages[1].Metadata["metadata.ScheduledEnqueueTimeUtc"],
		at.Format("Mon, 02 Jan 2006 15:04:05 GMT"))
	holds(t, queue)
}

func TestALockIsRenewedWhileAHandlerRuns(t *testing.T) {
	t.Parallel()
	queue, got := take("shortp"), seen{} // locks of five seconds
	bus := onQueues(t, "lockRenewalInSec", "2")
	bus.publish(queue, "slow")
	done := make(chan struct{}, 10)
	bus.subscribe(queue, func(_ context.Context, message *pubsub.NewMessage) error {
		got.add(message)
		time.Sleep(8 * time.Second)
		done <- struct{}{}
		return nil
	})
	<-done
	same(t, deliveries(got.wait(t, 1)[0]), "1")
	holds(t, queue)
}

func TestPublishingToWhatIsNotThereFailsAtOnce(t *testing.T) {
	t.Parallel()
	bus := onQueues(t)
	began := time.Now()
	err := bus.tryPublish("missing", "x")
	check(t, err != nil && strings.Contains(err.Error(), "'missing' could not be found"),
		"got %v", err)
	check(t, time.Since(began) < 5*time.Second, "it took %s", time.Since(began))
	queue := take("p")
	bus.publish(queue, "x") // the component still works
	holds(t, queue, "x")
}

func TestABindingInvokesAndReads(t *testing.T) {
	t.Parallel()
	queue := take("p")
	made := binding.NewAzureServiceBusQueues(log)
	ok(t, made.Init(within(t, soon), bindings.Metadata{Base: base("queueName", queue)}))
	for _, text := range numbers(10) {
		_, err := made.Invoke(within(t, soon), &bindings.InvokeRequest{
			Operation: bindings.CreateOperation, Data: []byte(text),
			Metadata: pairs("id", "m"+text, "correlationID", "c"+text, "Label", "l"+text,
				"path", "/a b?c"),
		})
		ok(t, err)
	}
	var mutex sync.Mutex
	order, wrong := []string{}, ""
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ok(t, made.Read(ctx, func(_ context.Context, read *bindings.ReadResponse) ([]byte, error) {
		mutex.Lock()
		defer mutex.Unlock()
		text := string(read.Data)
		want := pairs("id", "m"+text, "correlationID", "c"+text, "label", "l"+text,
			"path", "%2Fa+b%3Fc") // the component encodes values
		if fmt.Sprint(read.Metadata) != fmt.Sprint(want) {
			wrong = fmt.Sprintf("got %v, want %v", read.Metadata, want)
		}
		order = append(order, text)
		if text == "4" && len(order) == 5 {
			return nil, errors.New("on purpose")
		}
		return nil, nil
	}))
	got := func() []string { mutex.Lock(); defer mutex.Unlock(); return slices.Clone(order) }
	eventually(t, func() bool { return len(got()) >= 11 }, func() string { return fmt.Sprint(got()) })
	holds(t, queue)
	same(t, got(), strings.Fields("0 1 2 3 4 4 5 6 7 8 9"))
	mutex.Lock()
	same(t, wrong, "")
	mutex.Unlock()
	stop()
	ok(t, made.Close())
	check(t, made.Read(context.Background(), nil) != nil, "a closed binding reads")
}

func TestWhatHandlersHaveWhenAQueueIsClosedComesAgainWhenItsLockEnds(t *testing.T) {
	t.Parallel()
	queue, first, second := take("shortp"), seen{}, seen{} // locks of five seconds
	bus := onQueues(t, "maxActiveMessages", "2")
	for _, text := range numbers(6) {
		bus.publish(queue, text)
	}
	release := make(chan struct{})
	bus.subscribe(queue, func(_ context.Context, message *pubsub.NewMessage) error {
		first.add(message)
		<-release
		return nil
	})
	eventually(t, func() bool { return len(first.messages()) == 2 },
		func() string { return fmt.Sprint(first.texts()) })
	bus.close()
	check(t, bus.tryPublish(queue, "x") != nil, "a closed component publishes")
	close(release) // the component does not wait for handlers, and its link is closed
	next := onQueues(t, "maxActiveMessages", "1")
	next.subscribe(queue, func(_ context.Context, message *pubsub.NewMessage) error {
		second.add(message)
		return nil
	})
	order := []string{}
	for _, message := range second.wait(t, 6) {
		order = append(order, string(message.Data)+" at "+deliveries(message))
	}
	slices.Sort(order[4:]) // both locks ended
	same(t, order, []string{"2 at 1", "3 at 1", "4 at 1", "5 at 1", "0 at 2", "1 at 2"})
	holds(t, queue)
}

func TestClosingSessionsWhileHandlersRunKeepsTheOrder(t *testing.T) {
	t.Parallel()
	topic, first, second := take("t"), seen{}, seen{}
	bus := onTopics(t, "sessions")
	for _, text := range numbers(5) {
		for _, name := range []string{"a", "b"} {
			bus.publish(topic, text, "SessionId", name)
		}
	}
	bus.subscribe(topic, func(ctx context.Context, message *pubsub.NewMessage) error {
		first.add(message)
		if string(message.Data) == "1" {
			<-ctx.Done() // which closing ends
			return ctx.Err()
		}
		return nil
	}, "requireSessions", "true")
	eventually(t, func() bool { return len(first.messages()) == 4 },
		func() string { return fmt.Sprint(first.texts()) })
	bus.close()
	next := onTopics(t, "sessions")
	next.subscribe(topic, func(_ context.Context, message *pubsub.NewMessage) error {
		second.add(message)
		return nil
	}, "requireSessions", "true")
	bySession := map[string][]string{}
	for _, message := range second.wait(t, 8) {
		bySession[session(message)] = append(bySession[session(message)], string(message.Data))
	}
	want := []string{"1", "2", "3", "4"}
	same(t, bySession, map[string][]string{"a": want, "b": want})
	next.closeEmpty(topic, "a", "b")
}
