// SPDX-License-Identifier: MIT
// Azure's Go client at the same work, one goroutine per session. Prints one line of JSON.
//
//	peer steady QUEUE SESSIONS WARM MESSAGES    SESSIONS receivers at once
//	peer rolling QUEUE SLOTS WARM SESSIONS      SLOTS loops: accept the next session, receive and
//	                                            complete its one message, close
//
// The first WARM messages or sessions are not timed.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	sb "github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// The number of messages per receive call. Larger numbers were not faster.
const batch = 100

var background = context.Background()

func need[T any](value T, err error) T {
	must(err)
	return value
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Counts work. The clock runs from the last warm-up item to the last item.
type count struct {
	warm, all int64
	done      atomic.Int64
	began     time.Time
}

func (c *count) one() {
	switch c.done.Add(1) {
	case c.warm:
		c.began = time.Now()
	case c.all:
		fmt.Printf("{\"seconds\": %f}\n", time.Since(c.began).Seconds())
		os.Exit(0)
	}
}

func steady(client *sb.Client, queue string, sessions int, done *count) {
	receivers := make(chan *sb.SessionReceiver)
	for range sessions {
		go func() { receivers <- need(client.AcceptNextSessionForQueue(background, queue, nil)) }()
	}
	held := make([]*sb.SessionReceiver, 0, sessions)
	for range sessions {
		held = append(held, <-receivers)
	}
	for _, receiver := range held {
		go func() {
			for {
				for _, message := range need(receiver.ReceiveMessages(background, batch, nil)) {
					must(receiver.CompleteMessage(background, message, nil))
					done.one()
				}
			}
		}()
	}
	select {}
}

func rolling(client *sb.Client, queue string, slots int, done *count) {
	for range slots {
		go func() {
			for {
				receiver := need(client.AcceptNextSessionForQueue(background, queue, nil))
				message := need(receiver.ReceiveMessages(background, 1, nil))[0]
				must(receiver.CompleteMessage(background, message, nil))
				must(receiver.Close(background))
				done.one()
			}
		}()
	}
	select {}
}

func main() {
	mode, queue := os.Args[1], os.Args[2]
	atOnce, warm := need(strconv.Atoi(os.Args[3])), need(strconv.Atoi(os.Args[4]))
	timed := need(strconv.Atoi(os.Args[5]))
	client := need(sb.NewClientFromConnectionString(os.Getenv("SESSIONQ_CONNECTION"), nil))
	done := &count{warm: int64(warm), all: int64(warm + timed)}
	run := map[string]func(*sb.Client, string, int, *count){"steady": steady, "rolling": rolling}
	run[mode](client, queue, atOnce, done)
}
