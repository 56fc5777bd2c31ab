package gateway

import (
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// modeSetting is the setting by which a session chooses its mode. A server takes it as a placeholder, so that programs can set
// it whether there is a gateway or not.
const modeSetting = "pghaul.mode"

// startMode is the mode that a start-up packet asks for, the given one when it says nothing.
func startMode(params map[string]string, mode Mode) Mode {
	for name, value := range params {
		if strings.EqualFold(name, modeSetting) {
			mode = modeOr(value, mode)
		}
	}
	words := optionWords(params["options"])
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case word == "-c" && i+1 < len(words):
			i++
			word = words[i]
		case strings.HasPrefix(word, "-c"):
			word = word[2:]
		case strings.HasPrefix(word, "--"):
			word = word[2:]
		default:
			continue
		}
		name, value, ok := strings.Cut(word, "=")
		if ok && strings.EqualFold(name, modeSetting) {
			mode = modeOr(value, mode)
		}
	}
	return mode
}

// optionWords splits the options of a start-up packet as the server does (pg_split_opts): at white space, a backslash taking
// the next byte as it is.
func optionWords(options string) []string {
	var words []string
	var word []byte
	inside := false
	for i := 0; i < len(options); i++ {
		c := options[i]
		switch {
		case c == '\\' && i+1 < len(options):
			i++
			word, inside = append(word, options[i]), true
		case strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			if inside {
				words = append(words, string(word))
			}
			word, inside = word[:0], false
		case c != '\\':
			word, inside = append(word, c), true
		}
	}
	if inside {
		words = append(words, string(word))
	}
	return words
}

// modeOr reads a value of the setting. One that is no mode turns acceleration off: the server has taken it, and nobody knows
// what is meant.
func modeOr(value string, none Mode) Mode {
	if value == "" {
		return none
	}
	mode, err := ParseMode(value)
	if err != nil {
		return Off
	}
	return mode
}

// noteSetting follows a statement that may change the mode. It is a guess, for the server may refuse the statement or roll it
// back: when it says off nothing is accelerated, and else the server's own word is asked together with a table's facts.
func (a *accel) noteSetting(word string, sql []byte) {
	var mode Mode
	switch word {
	case "DISCARD":
		mode = a.start
	case "SET", "RESET":
		set := sqltext.ParseSet(sql, a.lex)
		switch {
		case set == nil:
			return
		case set.Name == "all":
			mode = a.start
		case set.Name != modeSetting:
			return
		case set.Default:
			mode = a.start
		default:
			mode = modeOr(set.Value, a.start)
		}
	default:
		return
	}
	a.setMode(mode)
}

func (a *accel) setMode(mode Mode) {
	if mode != a.mode {
		a.mode = mode
		a.s.counts.SetMode(mode.String())
	}
}
