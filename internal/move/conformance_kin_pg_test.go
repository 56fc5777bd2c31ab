package move

import "github.com/pghaul/pghaul/planner"

// kinCases are about tables that depend on others, or do something of their own with rows.
func kinCases() []conformanceCase {
	const rows = " FROM generate_series(1, 3000) AS i"
	const byRange = "CREATE TABLE parts (id int, k int, t text, PRIMARY KEY (id)) PARTITION BY RANGE (id)"
	parts := func(name string) []string {
		return []string{"CREATE TABLE " + name + " (id int PRIMARY KEY, k int, t text) PARTITION BY RANGE (id)",
			"CREATE TABLE " + name + "_low (t text, gone int, k int, id int NOT NULL)", "ALTER TABLE " + name + "_low DROP COLUMN gone",
			"ALTER TABLE " + name + " ATTACH PARTITION " + name + "_low FOR VALUES FROM (MINVALUE) TO (1000)",
			"CREATE TABLE " + name + "_mid PARTITION OF " + name + " FOR VALUES FROM (1000) TO (2000) PARTITION BY RANGE (id)",
			"CREATE TABLE " + name + "_mid_a PARTITION OF " + name + "_mid FOR VALUES FROM (1000) TO (1500)",
			"CREATE TABLE " + name + "_mid_b PARTITION OF " + name + "_mid FOR VALUES FROM (1500) TO (2000)",
			"CREATE TABLE " + name + "_high PARTITION OF " + name + " DEFAULT"}
	}
	fill := "INSERT INTO parts SELECT i, i % 10, 'row ' || i" + rows
	noReplace := map[string]string{"relay replacing by 3": "partitioned"}
	plain := func(name string) string { return "CREATE TABLE " + name + " (id int PRIMARY KEY, k int, t text)" }
	fillPlain := "INSERT INTO plain SELECT i, i % 10, 'row ' || i" + rows
	return []conformanceCase{
		{name: "partitions with equal bounds", from: "parts", into: "parts_copy", source: append(parts("parts"), fill), target: parts("parts_copy"),
			refuses: noReplace, never: true},
		{name: "partitions with other bounds", from: "parts", into: "parts_copy", source: append(parts("parts"), fill),
			target: []string{"CREATE TABLE parts_copy (id int, k int, t text, PRIMARY KEY (id)) PARTITION BY HASH (id)",
				"CREATE TABLE parts_copy_0 PARTITION OF parts_copy FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
				"CREATE TABLE parts_copy_1 PARTITION OF parts_copy FOR VALUES WITH (MODULUS 2, REMAINDER 1)"},
			refuses: noReplace, never: true},
		{name: "partitions into a table", from: "parts", into: "parts_copy", source: append(parts("parts"), fill), target: []string{plain("parts_copy")}, never: true},
		{name: "a table into partitions", from: "plain", into: "plain_copy", source: []string{plain("plain"), fillPlain}, target: parts("plain_copy"),
			refuses: noReplace, never: true},
		{name: "a partitioned table without partitions", from: "parts", into: "parts_copy", source: []string{byRange},
			target: []string{plain("parts_copy")}, never: true},
		{name: "a parent with children", from: "plain", into: "plain_copy", sourceOnly: "ONLY ",
			source: []string{plain("plain"), "CREATE TABLE child (extra int) INHERITS (plain)", fillPlain, "INSERT INTO child SELECT -i, 0, 'child', i" + rows},
			target: []string{plain("plain_copy")}},
		{name: "a view", from: "seen", into: "seen_copy",
			source: []string{plain("plain"), fillPlain, "CREATE VIEW seen AS SELECT t || '!' AS t, id FROM plain WHERE k < 5"},
			target: []string{"CREATE TABLE seen_copy (id int PRIMARY KEY, t text)"}, columns: "id, t", never: true},
		{name: "a materialized view", from: "kept", into: "kept_copy",
			source: []string{plain("plain"), fillPlain, "CREATE MATERIALIZED VIEW kept AS SELECT t || '!' AS t, id FROM plain"},
			target: []string{"CREATE TABLE kept_copy (id int PRIMARY KEY, t text)"}, columns: "id, t", never: true},
		{name: "row triggers", from: "plain", into: "plain_copy", source: []string{plain("plain"), fillPlain}, never: true, unverified: true,
			setup: []string{`CREATE FUNCTION public.change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF NEW.id % 10 = 0 THEN RETURN NULL; END IF; NEW.t := upper(NEW.t); RAISE NOTICE 'row %', NEW.id; RETURN NEW; END $$`},
			target:   []string{plain("plain_copy"), "CREATE TRIGGER change BEFORE INSERT ON plain_copy FOR EACH ROW EXECUTE FUNCTION public.change()"},
			expect:   "SELECT id, k, upper(t) FROM plain WHERE id % 10 <> 0",
			expectBy: map[string]string{"relay replacing by 3": "TABLE plain"}},
		{name: "statement triggers", from: "plain", into: "plain_copy", source: []string{plain("plain"), fillPlain}, never: true,
			setup: []string{"CREATE TABLE public.noted (n bigint)", `CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				INSERT INTO public.noted SELECT count(*) FROM fresh; RETURN NULL; END $$`},
			target: []string{plain("plain_copy"), "CREATE TRIGGER note AFTER INSERT ON plain_copy REFERENCING NEW TABLE AS fresh EXECUTE FUNCTION public.note()"}},
		{name: "a rule", from: "plain", into: "plain_copy", source: []string{plain("plain"), fillPlain}, never: true,
			target: []string{plain("plain_copy"), "CREATE RULE also AS ON INSERT TO plain_copy DO ALSO INSERT INTO public.ruled VALUES (NEW.id)"},
			setup:  []string{"CREATE TABLE public.ruled (id int)"},
			refuses: map[string]string{"merge": "rules", "relay": "rules", "relay text": "rules", "relay by 3": "rules", "relay by range": "rules",
				"relay replacing by 3": "rule"}},
		{name: "other types", from: "plain", into: "plain_copy", source: []string{plain("plain"), fillPlain}, never: true, format: planner.Text,
			target:  []string{"CREATE TABLE plain_copy (id bigint PRIMARY KEY, k numeric, t varchar)"},
			refuses: map[string]string{"insert-select": "cast", "insert-select by 3": "cast"}},
	}
}

// nameCase has names that break whatever quotes them wrongly, or takes them for a format or a parameter.
func nameCase() conformanceCase {
	const schema = `"Söme ""schema"".%s"`
	const table = schema + `."select $1; -- 💥 'x' \"`
	const copied = schema + `."COPY ""it"" %d.$2"`
	const columns = `("ID" int PRIMARY KEY, "user" text, "a""b.c" int, "%s%d" text, "$1" int, "back\slash" text, "💥" bool, "it's" int, "sp ace," text, ctid_ int)`
	return conformanceCase{
		name: "names", from: table, into: copied, setup: []string{"CREATE SCHEMA " + schema},
		source: []string{"CREATE TABLE " + table + " " + columns, "CREATE INDEX ON " + table + ` ("a""b.c")`,
			"INSERT INTO " + table + ` SELECT i, 'u' || i, i, '%s', i, E'\\', i % 2 = 0, i, ' ', i FROM generate_series(1, 2000) AS i`},
		target: []string{"CREATE TABLE " + copied + " " + columns}, format: planner.Binary, everywhere: true,
	}
}
