package pghaul_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/planner"
)

// Two tables go to another server, whose tables of these names exist and are empty.
func ExampleCopy() {
	ctx := context.Background()
	report, err := pghaul.Copy(ctx, "postgres://db1/shop", "postgres://db2/shop",
		pghaul.Tables("orders", "customers:archive.customers"), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows in %v\n", report.Rows(), report.Duration)
}

// The rows of a table are replaced, and compared with the source before the commit. Progress is printed every second.
func ExampleCopy_options() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	_, err := pghaul.Copy(ctx, "service=shop", "postgres://db2/shop", pghaul.Tables("orders"), &pghaul.CopyOptions{
		Fill:             planner.Truncate,
		Verify:           pghaul.VerifyHash,
		MaxRate:          200 << 20,
		OnProgress:       func(p pghaul.Progress) { fmt.Printf("%s: %d of about %d rows\n", p.Table, p.Rows, p.TotalRows) },
		ProgressInterval: time.Second,
	})
	var broken *pgconn.PgError
	switch {
	case errors.As(err, &broken) && broken.Code == "23505":
		log.Fatalf("a key is there twice: %s", broken.Detail)
	case err != nil:
		log.Fatal(err)
	}
}

// The rows of a query go into a table.
func ExampleCopy_query() {
	_, err := pghaul.Copy(context.Background(), "postgres://db1/shop", "postgres://db2/stats", nil, &pghaul.CopyOptions{
		Query: "SELECT day, sum(amount) AS amount FROM public.orders GROUP BY day",
		Into:  "daily",
	})
	if err != nil {
		log.Fatal(err)
	}
}

// All that is wrong with the arguments is reported at once, before any server is asked.
func ExampleCopy_usage() {
	_, err := pghaul.Copy(context.Background(), "", "", pghaul.Tables("a:b:c"), &pghaul.CopyOptions{Verify: "smell"})
	fmt.Println(err)
	var usage *planner.Error
	fmt.Println(errors.As(err, &usage) && usage.Kind == planner.Usage)
	// Output:
	// cannot read name a:b:c: more than one colon
	// no such verify level: "smell"
	// true
}

// The plan tells how a copy would be made, and why. Nothing is changed.
func ExampleExplain() {
	plans, err := pghaul.Explain(context.Background(), "postgres://db1/shop", "postgres://db2/shop", pghaul.Tables("orders"), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, plan := range plans {
		fmt.Println(plan.Text())
	}
}

func ExampleTables() {
	for _, t := range pghaul.Tables("orders", "sales.orders:archive.orders", `"co:lon":plain`) {
		fmt.Printf("from %s to %q\n", t.Source, t.Target)
	}
	// Output:
	// from orders to ""
	// from sales.orders to "archive.orders"
	// from "co:lon" to "plain"
}

// Tables of two servers are compared row by row.
func ExampleVerify() {
	found, err := pghaul.Verify(context.Background(), "postgres://db1/shop", "postgres://db2/shop", pghaul.Tables("orders"), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range found {
		for _, d := range c.Different {
			fmt.Printf("%s differs where %s: %v\n", c.Source, d.Range, d.Keys)
		}
	}
}
