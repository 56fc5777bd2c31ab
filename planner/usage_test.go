package planner

import "testing"

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		wish Wish
		want string
	}{
		{Wish{Method: "x"}, `unknown method "x"`},
		{Wish{Format: "csv"}, `unknown format "csv"`},
		{Wish{Fill: 9}, "unknown way to fill"},
		{Wish{Commit: 9}, "unknown unit of commit"},
		{Wish{OnConflict: 9}, "unknown conflict action"},
		{Wish{Connections: -1}, "connections cannot be negative"},
		{Wish{BatchSize: -1}, "batch size cannot be negative"},
		{Wish{CopyThreshold: -2}, "COPY threshold cannot be negative"},
		{Wish{RangeBytes: -1}, "size of a range cannot be negative"},
		{Wish{Columns: []string{}}, "--columns names no column"},
		{Wish{Columns: []string{"id", "id"}}, `--columns names "id" twice`},
		{Wish{Where: "  "}, "--where is blank"},
		{Wish{Method: Merge}, "--method merge needs --on-conflict"},
		{Wish{ConflictColumns: []string{"id"}}, "--conflict-columns needs --on-conflict"},
		{Wish{OnConflict: DoNothing, ConflictColumns: []string{"id", "id"}}, `--conflict-columns names "id" twice`},
		{Wish{Method: Relay, OnConflict: DoNothing}, "--on-conflict cannot be used with --method relay"},
		{Wish{Method: Relay, Returning: "id"}, "--returning cannot be used with --method relay"},
		{Wish{Method: CreateAs, Format: Text}, "--format cannot be used with --method create-as"},
		{Wish{OnConflict: DoUpdate, Fill: Replace}, "--on-conflict cannot be used with --replace"},
		{Wish{Commit: CommitRange, Fill: Replace}, "--commit range cannot be used with --replace"},
		{Wish{Commit: CommitRange, Method: Unlogged}, "--commit range cannot be used with --method unlogged"},
		{Wish{Commit: CommitRange, OnConflict: DoNothing}, "--method insert only"},
		{Wish{Commit: CommitRange, Freeze: Yes}, "--commit range cannot be used with --freeze"},
	} {
		mustFail(t, between(orders(1, "a"), orders(2, "b")), c.wish, Usage, c.want)
	}
}

func TestUsageTellsAllAtOnce(t *testing.T) {
	mustFail(t, Facts{}, Wish{Method: "x", BatchSize: -1, Where: " "}, Usage, "Unknown method", "batch size", "--where is blank")
}
