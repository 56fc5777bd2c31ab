package main

import (
	"fmt"
	"strings"
)

// shown is the flag with a default in the help text.
func (v *value) shown(initial string) *value {
	v.text = initial
	return v
}

// wordsFlag takes words separated by commas, and more with each time that it is given.
func wordsFlag(to *[]string, kind string) *value {
	return &value{kind: kind, read: func(s string) error {
		for word := range strings.SplitSeq(s, ",") {
			word = strings.TrimSpace(word)
			if word == "" {
				return fmt.Errorf("it has an empty part; leave the flag out for its default")
			}
			*to = append(*to, word)
		}
		return nil
	}}
}

// patienceFlag is --drain-timeout, for which 0 has a meaning.
func patienceFlag(f *gatewayFlags) *value {
	return &value{kind: "TIME", text: "30s", read: func(s string) error {
		d, err := parsePeriod(s)
		if d == 0 {
			d = -1
		}
		f.config.DrainTimeout = d
		return err
	}}
}
