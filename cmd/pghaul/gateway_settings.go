package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/pghaul/pghaul/planner"
)

// settingsPrefix begins the environment variables that mean what flags mean: --tls-cert is PGHAUL_GATEWAY_TLS_CERT.
const settingsPrefix = "PGHAUL_GATEWAY_"

// settings fills flags that were not given from the environment, then from a file. A value of a higher place replaces the
// lower one whole, lists too.
type settings struct {
	flags    *pflag.FlagSet
	fileFlag string   // names the file; not itself a setting of one
	only     []string // flags that make sense on the command line alone
}

// complete reads both places and returns all that is wrong in them.
func (s *settings) complete(environ []string) error {
	var all []error
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		word, ours := strings.CutPrefix(name, settingsPrefix)
		// What tools write for "not set" is an empty variable.
		if !ours || text == "" {
			continue
		}
		flag := s.flags.Lookup(strings.ToLower(strings.ReplaceAll(word, "_", "-")))
		if flag == nil || slices.Contains(s.only, flag.Name) || strings.ToUpper(word) != word {
			all = append(all, usage(fmt.Sprintf("environment variable %s names no setting", name), s.near(strings.ToLower(word))))
			continue
		}
		all = append(all, s.set(flag, []string{text}, "environment variable "+name))
	}
	if file := s.flags.Lookup(s.fileFlag).Value.String(); file != "" {
		all = append(all, s.readFile(file))
	}
	return errors.Join(all...)
}

// set gives a flag its values, unless a higher place has done so.
func (s *settings) set(flag *pflag.Flag, texts []string, where string) error {
	if flag.Changed {
		return nil
	}
	for _, text := range texts {
		if err := flag.Value.Set(text); err != nil {
			return usage(fmt.Sprintf("%s: invalid value %q: %v", where, text, err), "")
		}
	}
	flag.Changed = true
	return nil
}

func (s *settings) readFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	return s.readYAML(name, text)
}

// readYAML takes one mapping of settings to values, or lists of values.
func (s *settings) readYAML(name string, text []byte) error {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return usage(fmt.Sprintf("%s: %v", name, err), "")
	}
	if len(document.Content) == 0 {
		return nil // empty, or only comments
	}
	root := document.Content[0]
	if root.Tag == "!!null" {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		return usage(fmt.Sprintf("%s, line %d: not a list of settings", name, root.Line), "Write one \"name: value\" on each line.")
	}
	var all []error
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		where := fmt.Sprintf("%s, line %d", name, key.Line)
		flag := s.flags.Lookup(key.Value)
		switch {
		case flag == nil || key.Value == s.fileFlag || slices.Contains(s.only, key.Value):
			all = append(all, usage(fmt.Sprintf("%s: %q is no setting", where, key.Value), s.near(key.Value)))
		case seen[key.Value]:
			all = append(all, usage(fmt.Sprintf("%s: %s is set twice", where, key.Value), ""))
		default:
			texts, err := scalars(value)
			if err != nil {
				all = append(all, usage(fmt.Sprintf("%s: %s: %v", where, key.Value, err), ""))
				continue
			}
			all = append(all, s.set(flag, texts, where+": "+key.Value))
		}
		seen[key.Value] = true
	}
	return errors.Join(all...)
}

// scalars are the texts of a value or of a list of values, as they are written. Of a setting without value there are none.
func scalars(node *yaml.Node) ([]string, error) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch {
	case node.Kind == yaml.ScalarNode && node.Tag == "!!null":
		return nil, errors.New("it has no value")
	case node.Kind == yaml.ScalarNode:
		return []string{node.Value}, nil
	case node.Kind != yaml.SequenceNode:
		return nil, errors.New("give a value, or a list of values")
	}
	var texts []string
	for _, item := range node.Content {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			return nil, errors.New("give a value, or a list of values")
		}
		texts = append(texts, item.Value)
	}
	if len(texts) == 0 {
		return nil, errors.New("it has no value")
	}
	return texts, nil
}

// near suggests the setting whose name is like the one that does not exist.
func (s *settings) near(name string) string {
	name = strings.ReplaceAll(name, "_", "-")
	hint := "pghaul gateway --help lists the settings."
	s.flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == name || strings.ReplaceAll(f.Name, "-", "") == strings.ReplaceAll(name, "-", "") {
			hint = fmt.Sprintf("Did you mean %s?", f.Name)
		}
	})
	return hint
}

func usage(message, hint string) error {
	return &planner.Error{Kind: planner.Usage, Message: message, Hint: hint}
}
