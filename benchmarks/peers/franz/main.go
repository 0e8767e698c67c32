// franz-go beside kcli: `franz produce BOOTSTRAP TOPIC CODEC KEYED` sends the lines of stdin, `franz consume BOOTSTRAP
// TOPIC` writes the values of a topic, each with a newline, up to its ends as they were at the start.
package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func produce(bootstrap, topic, codec string, keyed bool) {
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(bootstrap), kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(codecs[codec]),
		kgo.ProducerBatchMaxBytes(1000000), kgo.MaxBufferedRecords(200000),
		kgo.ProducerLinger(5 * time.Millisecond),
	}
	client, err := kgo.NewClient(options...)
	check(err)
	var failed atomic.Int64
	done := func(_ *kgo.Record, err error) {
		if err != nil {
			failed.Add(1)
		}
	}
	reader := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		check(err)
		record := &kgo.Record{Value: line[:len(line)-1]}
		if keyed {
			record.Key, record.Value, _ = bytes.Cut(record.Value, []byte("\t"))
		}
		client.Produce(context.Background(), record, done)
	}
	check(client.Flush(context.Background()))
	if failed.Load() > 0 {
		check(fmt.Errorf("%d records failed", failed.Load()))
	}
	client.Close()
}

func consume(bootstrap, topic string) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	check(err)
	ends, err := kadm.NewClient(client).ListEndOffsets(context.Background(), topic)
	check(err)
	left := map[int32]int64{}
	ends.Each(func(end kadm.ListedOffset) {
		if end.Offset > 0 {
			left[end.Partition] = end.Offset
		}
	})
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for len(left) > 0 {
		fetches := client.PollFetches(context.Background())
		for _, broken := range fetches.Errors() {
			check(broken.Err)
		}
		fetches.EachPartition(func(part kgo.FetchTopicPartition) {
			for _, record := range part.Records {
				out.Write(record.Value)
				out.WriteByte('\n')
			}
			if n := len(part.Records); n > 0 && part.Records[n-1].Offset+1 >= left[part.Partition] {
				delete(left, part.Partition)
			}
		})
	}
	check(out.Flush())
	client.Close()
}

func main() {
	switch os.Args[1] {
	case "produce":
		produce(os.Args[2], os.Args[3], os.Args[4], os.Args[5] == "1")
	case "consume":
		consume(os.Args[2], os.Args[3])
	}
}
