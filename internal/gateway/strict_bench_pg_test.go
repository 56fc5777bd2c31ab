package gateway

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/wire"
)

// BenchmarkGroups compares groups of n INSERTs, and INSERTs of n literal rows, direct and through the gateway.
func BenchmarkGroups(b *testing.B) {
	uri := clustertest.Database(b)
	clustertest.Exec(b, uri, "CREATE UNLOGGED TABLE t (a int, b timestamptz, c float8, d text)")
	g := start(b, &Config{Upstream: socketOf(b, clustertest.Server(b))})
	o := start(b, &Config{Upstream: socketOf(b, clustertest.Server(b)), Mode: Off})
	targets := []struct{ name, uri string }{{"direct", uri}, {"off", through(b, o, uri)}, {"gateway", through(b, g, uri)}}
	for _, n := range []int{1, 10, 100, 1000, 10000} {
		group := messages(repeated(n, func(i int) []byte {
			return messages(wire.AppendBind(nil, &wire.Bind{Statement: "s", ParamFormats: []int16{1, 0, 1, 0}, Params: [][]byte{
				binary.BigEndian.AppendUint32(nil, uint32(i)), []byte("2024-01-02 03:04:05+00"),
				binary.BigEndian.AppendUint64(nil, 0x3ff8000000000000), []byte("thirty bytes of text, or so ..."),
			}}), describing(), executing())
		}), syncs())
		query := simple(literals("t", n, func(i int) string {
			return fmt.Sprintf("(%d, '2024-01-02 03:04:05+00', 1.5, 'thirty bytes of text, or so ...')", i)
		}))
		for _, form := range []struct {
			name string
			send []byte
		}{{"group", group}, {"literals", query}} {
			for _, target := range targets {
				b.Run(fmt.Sprintf("%s/%d/%s", form.name, n, target.name), func(b *testing.B) {
					clustertest.Exec(b, uri, "TRUNCATE t")
					c := connectRaw(b, target.uri, "")
					defer c.conn.Close()
					c.send(messages(parse("s", "INSERT INTO t VALUES ($1, $2, $3, $4)"), syncs()))
					c.read(1)
					for b.Loop() {
						done := make(chan struct{})
						go func() {
							c.send(form.send)
							close(done)
						}()
						c.drain()
						<-done
					}
				})
			}
		}
	}
}

// drain reads up to a ReadyForQuery without looking.
func (c *rawClient) drain() {
	block := make([]byte, 64<<10)
	var tail [6]byte
	for {
		n, err := c.conn.Read(block)
		if err != nil {
			c.t.Error(err)
			return
		}
		if n >= 6 {
			copy(tail[:], block[n-6:n])
		} else {
			copy(tail[:], tail[n:])
			copy(tail[6-n:], block[:n])
		}
		if tail[0] == 'Z' && tail[4] == 5 {
			return
		}
	}
}
