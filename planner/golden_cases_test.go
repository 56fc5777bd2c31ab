package planner

import "maps"

// golden is one case: facts and a wish.
type golden func() (Facts, Wish)

// goldens are the plans and refusals whose whole text is kept in testdata.
func goldens() map[string]golden {
	all := map[string]golden{}
	for _, group := range []map[string]golden{methodGoldens(), commitGoldens(), placeGoldens(), refusalGoldens(), directoryGoldens(), pagesGoldens()} {
		maps.Copy(all, group)
	}
	return all
}

// seed is the seed table on two servers.
func seed() (Facts, Wish) { return between(orders(1, "orders"), orders(2, "orders")), Wish{} }

// many is the same on four connections.
func many() (Facts, Wish) {
	f, w := seed()
	f.Processors, f.TargetServer.FreePrepared, w.Connections = 8, 64, 4
	return f, w
}

// commitGoldens cover every way to commit and to fill a target.
func commitGoldens() map[string]golden {
	return map[string]golden{
		"truncate_freeze": func() (Facts, Wish) {
			f, w := seed()
			f.Target.Empty, w.Fill = false, Truncate
			return f, w
		},
		"two_phase": many,
		"swap_multi": func() (Facts, Wish) {
			f, w := many()
			f.TargetServer.FreePrepared, f.Target = 0, dressed(f.Target)
			return f, w
		},
		"replace": func() (Facts, Wish) {
			f, w := seed()
			f.Target = dressed(f.Target)
			f.Target.Empty, w.Fill = false, Replace
			return f, w
		},
		"commit_range": func() (Facts, Wish) {
			f, w := many()
			w.Commit, w.Fill = CommitRange, Append
			return f, w
		},
		"commit_range_resumed": func() (Facts, Wish) {
			f, w := many()
			w.Commit, f.Target.Empty = CommitRange, false
			f.Recorded = &Recorded{Ranges: []Range{{ToPage: 70000}, {FromPage: 70000}}, Done: []bool{true, false}, Rows: 9, Key: "k"}
			return f, w
		},
		"create": func() (Facts, Wish) {
			f, w := seed()
			f.Target, f.Definition, w.Create = missing("public", "orders"), dumped(), true
			return f, w
		},
		"create_multi": func() (Facts, Wish) {
			f, w := many()
			f.Target, f.Definition, w.Create = missing("public", "orders"), dumped(), true
			return f, w
		},
	}
}

// methodGoldens cover every method.
func methodGoldens() map[string]golden {
	return map[string]golden{
		"relay": seed,
		"relay_within": func() (Facts, Wish) {
			return within(orders(1, "orders"), orders(2, "orders_copy")), Wish{}
		},
		"relay_text": func() (Facts, Wish) {
			f, w := seed()
			address := Type{OID: 70001, Schema: "public", Name: "addr", SQL: "public.addr", Class: Composite, Fields: []Field{{"zip", Type{OID: 70002, Name: "zip", Class: Enum, SQL: "public.zip", Labels: []string{"a"}}}}}
			other := address
			other.Fields = []Field{{"zip", address.Fields[0].Type}}
			other.Fields[0].Type.OID = 80002
			f.Source.Columns = append(f.Source.Columns, col("addr", address), col("x", xmlType))
			f.Target.Columns = append(f.Target.Columns, col("addr", other), col("x", xmlType))
			return f, w
		},
		"insert_select": func() (Facts, Wish) {
			return within(orders(1, "orders"), orders(2, "orders_copy")), Wish{Method: InsertSelect}
		},
		"create_as": func() (Facts, Wish) {
			return within(orders(1, "orders"), missing("public", "orders_copy")), Wish{Method: CreateAs}
		},
		"unlogged": func() (Facts, Wish) {
			f := within(orders(1, "orders"), missing("public", "orders_copy"))
			f.Definition = &Definition{From: "LIKE", Schema: "public", Name: "orders_copy", Before: []string{"CREATE TABLE public.orders_copy (LIKE public.orders INCLUDING ALL EXCLUDING INDEXES)"},
				Indexes: []string{"CREATE INDEX ON public.orders_copy USING btree (day)"}}
			return f, Wish{Method: Unlogged}
		},
		"insert": func() (Facts, Wish) {
			f, w := seed()
			w.Method, w.BatchSize = Insert, 3
			return f, w
		},
		"insert_unnest": func() (Facts, Wish) {
			f, w := seed()
			w.Method, w.Returning = Insert, "id"
			return f, w
		},
		"insert_view": func() (Facts, Wish) {
			f, w := seed()
			f.Target.Kind, f.Target.Triggers = View, []Trigger{{Name: "put", Row: true, Before: true}}
			return f, w
		},
		"merge": func() (Facts, Wish) {
			f, w := seed()
			f.Target.Keys, f.Target.Empty, w.OnConflict = []Key{{Name: "orders_pkey", Primary: true, Columns: []string{"id"}}}, false, DoUpdate
			return f, w
		},
	}
}

// placeGoldens cover the sorts of source and target.
func placeGoldens() map[string]golden {
	return map[string]golden{
		"foreign": func() (Facts, Wish) {
			f, w := seed()
			f.Source.Path = []Hop{{Server: "home:5432/app", Schema: "public", Name: "ft_orders", Foreign: "far", Wrapper: "postgres_fdw"}}
			f.Source.Columns[3].Remote = "remark"
			f.Target.Path = []Hop{{Server: "home:5432/app", Schema: "Sales", Name: "ft", Foreign: "hop", Wrapper: "postgres_fdw"}, {Server: "mid:5432/app", Schema: "public", Name: "ft2", Foreign: "far", Wrapper: "postgres_fdw"}}
			w.Where = "note <> 'x' -- not those"
			return f, w
		},
		"partitions": func() (Facts, Wish) {
			f, w := seed()
			f.Source, f.Target = parted(f.Source, 100, "RANGE (n)"), parted(f.Target, 200, "RANGE (n)")
			f.Target.Leaves[1].Bound = "FOR VALUES FROM (100) TO (300)"
			return f, w
		},
		"query": func() (Facts, Wish) {
			f, w := seed()
			f.Source = Relation{Kind: Query, Query: "SELECT 1 AS id, now()::date AS day -- today\n;", Rows: -1, Columns: f.Source.Columns[:2], CanSelect: true}
			return f, w
		},
		"sequences": func() (Facts, Wish) {
			f, w := seed()
			f.Source.Sequences = []OwnedSequence{{Column: "id", Schema: "public", Name: "orders_id_seq"}}
			f.Target.Sequences = []OwnedSequence{{Column: "id", Schema: "public", Name: "orders_id_seq"}}
			f.Target.Empty, w.Fill = false, Append
			return f, w
		},
	}
}

// refusalGoldens cover what a user is told when nothing is moved.
func refusalGoldens() map[string]golden {
	return map[string]golden{
		"refused_binary": func() (Facts, Wish) {
			f, w := seed()
			w.Format = Binary
			f.Source.Columns = append(f.Source.Columns, col("x", xmlType))
			f.Target.Columns = append(f.Target.Columns, col("x", xmlType))
			return f, w
		},
		"refused_replace": func() (Facts, Wish) {
			f, w := seed()
			w.Fill = Replace
			f.Target.Rebuild = &Rebuild{Blockers: []string{"view public.v reads it"}, ReferencedBy: []string{"public.lines"}}
			return f, w
		},
		"refused_everything": func() (Facts, Wish) {
			f, w := seed()
			f.Target.Empty, w.OnConflict = false, DoUpdate
			return f, w
		},
		"failed_not_empty": func() (Facts, Wish) {
			f, w := seed()
			f.Target.Empty = false
			return f, w
		},
		"usage": func() (Facts, Wish) {
			f, _ := seed()
			return f, Wish{Method: "teleport", Connections: -1, ConflictColumns: []string{"a"}}
		},
	}
}

// dressed is a table with all that a swap must carry over.
func dressed(r Relation) Relation {
	r.Owner, r.Indexes, r.Unlogged = "owner", 3, true
	r.Columns[2].Identity = 'a'
	r.Sequences = []OwnedSequence{{Column: "id", Schema: "public", Name: "orders_id_seq"}, {Column: "n", Schema: "public", Name: "orders_n_seq"}}
	r.Rebuild = &Rebuild{
		Indexes: []IndexDef{
			{Name: "orders_pkey", Unique: true, Method: "USING btree (id)", Constraint: "PRIMARY KEY", ConstraintName: "orders_pkey", Clustered: true},
			{Name: "orders_n_key", Unique: true, Method: "USING btree (n)", Constraint: "UNIQUE DEFERRABLE INITIALLY DEFERRED", ConstraintName: "orders_n_key"},
			{Name: "by Day", Method: "USING brin (day)", Comment: "it's small"},
			{Name: "orders_excl", Method: "USING gist (day)", Constraint: "EXCLUDE USING gist (day WITH =)", ConstraintName: "orders_excl"},
		},
		ForeignKeys: []string{"CONSTRAINT orders_n_fkey FOREIGN KEY (n) REFERENCES public.n(id)"},
		After:       []string{"ALTER TABLE %s SET (fillfactor = '90')", "GRANT SELECT ON %s TO bob"},
	}
	return r
}

// dumped is how pg_dump would make the seed table.
func dumped() *Definition {
	return &Definition{
		From: "pg_dump 15.20", Schema: "public", Name: "orders", Before: []string{"CREATE TABLE public.orders (id bigint NOT NULL, day date, n integer, note character varying(10));"},
		Indexes:     []string{"CREATE INDEX orders_day ON public.orders USING btree (day);", "ALTER TABLE ONLY public.orders ADD CONSTRAINT orders_pkey PRIMARY KEY (id);"},
		After:       []string{"ALTER TABLE public.orders CLUSTER ON orders_pkey;"},
		ForeignKeys: []string{"ALTER TABLE ONLY public.orders ADD CONSTRAINT fk FOREIGN KEY (n) REFERENCES public.n(id);"},
	}
}

// parted turns a table into a partitioned one with two leaves.
func parted(r Relation, oid uint32, key string) Relation {
	r.Kind, r.Pages, r.HeapBytes, r.Rows = Partitioned, 0, 0, -1
	for i, bound := range []string{"FOR VALUES FROM (0) TO (100)", "FOR VALUES FROM (100) TO (200)"} {
		leaf := table(oid+uint32(i), "parts", r.Name+"_"+string(rune('a'+i)), r.Columns...)
		r.Leaves = append(r.Leaves, Leaf{Relation: leaf, Bound: bound, KeyDef: key})
	}
	return r
}
