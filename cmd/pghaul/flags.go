package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// flagGroup is a set of flags under one heading of the help text.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

func newGroup(title string) flagGroup {
	flags := pflag.NewFlagSet(title, pflag.ContinueOnError)
	flags.SortFlags = false
	return flagGroup{title: title, flags: flags}
}

// addGroups gives the command its flags, and a help text that lists them under their headings.
func addGroups(cmd *cobra.Command, groups ...flagGroup) {
	for _, g := range groups {
		cmd.Flags().AddFlagSet(g.flags)
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		w := cmd.OutOrStdout()
		fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
		for _, g := range groups {
			fmt.Fprintf(w, "\n%s:\n%s", g.title, g.flags.FlagUsages())
		}
		if cmd.HasExample() {
			fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
		}
		return nil
	})
}

// value is a flag's value of any type, read and shown by functions.
type value struct {
	kind string
	read func(string) error
	text string
}

func (v *value) String() string { return v.text }
func (v *value) Type() string   { return v.kind }

func (v *value) Set(s string) error {
	if err := v.read(s); err != nil {
		return err
	}
	v.text = s
	return nil
}

// choiceFlag takes one of a few words.
func choiceFlag[T any](to *T, kind, initial string, words []string, values []T) *value {
	return &value{kind: kind, text: initial, read: func(s string) error {
		i := slices.Index(words, s)
		if i < 0 {
			return fmt.Errorf("choose one of %s", strings.Join(words, ", "))
		}
		*to = values[i]
		return nil
	}}
}

// textFlag takes any text but none: "$TARGET" of an unset variable would mean the source.
func textFlag(to *string, kind string) *value {
	return &value{kind: kind, read: func(s string) error {
		if strings.TrimSpace(s) == "" {
			return fmt.Errorf("it is empty; leave the flag out for its default")
		}
		*to = s
		return nil
	}}
}

// countFlag takes a number of 1 or more.
func countFlag(to *int, kind string) *value {
	return &value{kind: kind, read: func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return fmt.Errorf("give a whole number, 1 or more")
		}
		*to = n
		return nil
	}}
}

func sizeFlag(to *int64) *value {
	return &value{kind: "SIZE", read: func(s string) (err error) {
		*to, err = parseSize(strings.TrimSuffix(s, "/s"))
		if err == nil && *to == 0 {
			err = fmt.Errorf("a size of 0 makes no sense here")
		}
		return err
	}}
}

func periodFlag(to *time.Duration, initial string) *value {
	return &value{kind: "TIME", text: initial, read: func(s string) (err error) {
		*to, err = parsePeriod(s)
		if err == nil && *to == 0 {
			err = fmt.Errorf("a time of 0 makes no sense here")
		}
		return err
	}}
}

// columnsFlag takes names separated by commas, written as in SQL.
func columnsFlag(to *[]string) *value {
	return &value{kind: "COLUMN,...", read: func(s string) error {
		for _, typed := range splitList(s) {
			schema, name, err := sqltext.ParseQualified(typed)
			if err == nil && schema != "" {
				err = fmt.Errorf("a column's name has no dot outside double quotes: %s", typed)
			}
			if err != nil {
				return err
			}
			*to = append(*to, name)
		}
		return nil
	}}
}

// splitList cuts at the commas outside double quotes.
func splitList(s string) []string {
	var parts []string
	quoted, from := false, 0
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ',' && !quoted:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

func thresholdFlag(to *int) *value {
	return &value{kind: "ROWS|auto|off", text: "auto", read: func(s string) error {
		switch s {
		case "auto":
			*to = planner.CopyAuto
			return nil
		case "off":
			*to = planner.CopyNever
			return nil
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return fmt.Errorf("give a number of rows, auto or off")
		}
		*to = n
		return nil
	}}
}
