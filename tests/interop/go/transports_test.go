// SPDX-License-Identifier: MIT
package interop

import (
	"context"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	sb "github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/coder/websocket"
)

// The client over the transport SESSIONQ_TRANSPORT: amqp, amqps, ws or wss. It sends a message into
// a session of the queue of that name, receives it and completes it.
func TestTransport(t *testing.T) {
	transport := os.Getenv("SESSIONQ_TRANSPORT")
	if transport == "" {
		t.Skip("SESSIONQ_TRANSPORT names no transport")
	}
	client := connectWith(t, connection, func(options *sb.ClientOptions) {
		if strings.HasPrefix(transport, "ws") {
			options.NewWebSocketConn = func(
				ctx context.Context, arguments sb.NewWebSocketConnArgs,
			) (net.Conn, error) {
				return dial(ctx, transport, arguments.Host, options)
			}
		}
	})
	send(t, client, transport, of("a", "over "+transport))
	session := accept(t, client, transport, "a")
	message := one(t, session)
	same(t, string(message.Body), "over "+transport)
	same(t, *message.SessionID, "a")
	ok(t, session.CompleteMessage(soon(t), message, nil))
	left, err := session.PeekMessages(soon(t), 1, nil)
	ok(t, err)
	same(t, len(left), 0)
	t.Logf("connected: %s", transport)
}

// As the client's documentation shows. Users dial themselves, so that they may do so without TLS.
func dial(
	ctx context.Context, scheme, address string, options *sb.ClientOptions,
) (net.Conn, error) {
	_, rest, _ := strings.Cut(address, "://")
	http := &http.Client{Transport: &http.Transport{TLSClientConfig: options.TLSConfig}}
	opened, _, err := websocket.Dial(ctx, scheme+"://"+rest,
		&websocket.DialOptions{Subprotocols: []string{"amqp"}, HTTPClient: http})
	if err != nil {
		return nil, err
	}
	return websocket.NetConn(context.Background(), opened, websocket.MessageBinary), nil
}
