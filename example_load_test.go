package pghaul_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/planner"
)

// Compressed files go into a table. Rows that it does not take are put into a file, which can be mended and loaded again.
func ExampleLoadFiles() {
	report, err := pghaul.LoadFiles(context.Background(), "postgres://db1/shop", "orders", []string{"orders-2024-*.csv.gz"}, &pghaul.LoadOptions{
		Fill:    planner.Append,
		OnError: planner.SetRowsAside,
		Reject:  "bad.csv", Reasons: "bad.json",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows loaded, %d refused\n", report.Rows, report.Refused)
	for _, r := range report.Reasons {
		fmt.Printf("%d of them: %s\n", r.Rows, r.Message)
	}
}

// A load that commits each million rows goes on where it was interrupted when the same call is made again.
func ExampleLoadFiles_resumable() {
	report, err := pghaul.LoadFiles(context.Background(), "postgres://db1/shop", "orders", []string{"orders.csv"}, &pghaul.LoadOptions{CommitEvery: 1000000})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows, after %d of an earlier run\n", report.Rows, report.Earlier)
}

// Rows of a program replace those that have the same key.
func ExampleLoad() {
	rows := pgx.CopyFromRows([][]any{{1, "hammer", 9.5}, {2, "saw", nil}})
	_, err := pghaul.Load(context.Background(), "postgres://db1/shop", "items", rows, &pghaul.LoadOptions{
		Columns:     []string{"id", "name", "price"},
		OnDuplicate: planner.DuplicateUpdate,
	})
	if err != nil {
		log.Fatal(err)
	}
}

// measurements yields rows without boxing their values.
type measurements struct {
	values []int64
}

func (m *measurements) Next() bool             { return len(m.values) > 0 }
func (m *measurements) Values() ([]any, error) { return []any{m.values[0]}, nil }
func (m *measurements) Err() error             { return nil }

func (m *measurements) NextRow(b *pghaul.RowBuilder) (bool, error) {
	if len(m.values) == 0 {
		return false, nil
	}
	b.Int64(m.values[0])
	m.values = m.values[1:]
	return true, nil
}

// A source that has the method NextRow is read without boxes.
func ExampleTypedSource() {
	var _ pghaul.TypedSource = &measurements{}
	_, err := pghaul.Load(context.Background(), "postgres://db1/lab", "measured", &measurements{values: []int64{3, 1, 4}}, &pghaul.LoadOptions{Columns: []string{"value"}})
	if err != nil {
		log.Fatal(err)
	}
}

// A service writes events as they come. They are in the table after a second at most, many in one COPY.
func ExampleWriter() {
	ctx := context.Background()
	w, err := pghaul.NewWriter(ctx, "postgres://db1/events", "events", &pghaul.WriterOptions{
		Columns:       []string{"at", "kind", "payload"},
		FlushInterval: time.Second,
		OnRefused:     func(r pghaul.Refusal) { log.Printf("%s: %s (%s)", r.Place, r.Message, r.State) },
	})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 1000 {
		if err := w.Write(ctx, time.Now(), "started", map[string]any{"number": i}); err != nil {
			log.Print(err)
		}
	}
	// What was written before is safe when this has returned without an error.
	if err := w.Flush(ctx); err != nil {
		log.Print(err)
	}
	if err := w.Close(ctx); err != nil {
		log.Print(err)
	}
}
