package world

import (
	"context"
	"errors"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"
)

// Store is what a cluster keeps its objects in.
type Store interface {
	// Stored changes the value of a key past kube-apiserver, which sees the change by its watch. There has to be one.
	Stored(ctx context.Context, key string, change func([]byte) ([]byte, error)) error
}

// Stored see [Store]. Of a cluster whose store cannot be reached it is an error.
func (c *Cluster) Stored(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	store, is := c.plane.(Store)
	if !is {
		return errors.New("what is stored can be changed in simulated clusters only")
	}
	return store.Stored(ctx, key, change)
}

// Fields of etcd's requests and answers, etcdserverpb.RangeRequest and so on in its rpc.proto. The client of etcd has a
// hundred packages, and this needs two calls.
const (
	rangeKey, putKey, putValue = 1, 1, 2
	rangeValues, valueOfKey    = 2, 5
)

// Stored implements Store.
func (c *local) Stored(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	conn, err := grpc.NewClient("passthrough:///etcd", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return c.dialStore(ctx) }),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(asIs{})))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	var answer []byte
	if err := conn.Invoke(ctx, "/etcdserverpb.KV/Range", field(nil, rangeKey, []byte(key)), &answer); err != nil {
		return fmt.Errorf("reading %s in etcd: %w", key, err)
	}
	pair, err := fieldOf(answer, rangeValues)
	if err != nil {
		return fmt.Errorf("etcd has no %s: %w", key, err)
	}
	value, err := fieldOf(pair, valueOfKey)
	if err == nil {
		value, err = change(value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if err := conn.Invoke(ctx, "/etcdserverpb.KV/Put", field(field(nil, putKey, []byte(key)), putValue, value), &answer); err != nil {
		return fmt.Errorf("writing %s in etcd: %w", key, err)
	}
	return nil
}

func field(to []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), value)
}

// fieldOf is the first value of a field of bytes.
func fieldOf(message []byte, number protowire.Number) ([]byte, error) {
	for len(message) > 0 {
		n, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		message = message[size:]
		if n == number && kind == protowire.BytesType {
			value, size := protowire.ConsumeBytes(message)
			return value, protowire.ParseError(min(size, 0))
		}
		if size = protowire.ConsumeFieldValue(n, kind, message); size < 0 {
			return nil, protowire.ParseError(size)
		}
		message = message[size:]
	}
	return nil, errors.New("it is not there")
}

// asIs sends and receives messages as they are encoded already.
type asIs struct{}

func (asIs) Marshal(v any) ([]byte, error) { return v.([]byte), nil }

func (asIs) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func (asIs) Name() string { return "proto" }
