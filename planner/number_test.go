package planner

import "testing"

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{-1: "unknown", 0: "0 bytes", 10239: "10239 bytes", 10240: "10 kB", 1149 * megabyte: "1149 MB", 20 << 30: "20 GB", 1 << 60: "1024 PB"} {
		same(t, prettyBytes(n), want)
	}
	for s, want := range map[float64]string{0.0004: "0 ms", 0.006: "6 ms", 0.5: "0.5 s", 7.84: "7.8 s", 18.8: "19 s", 600: "10 min", 9000: "2.5 h"} {
		same(t, prettySeconds(s), want)
	}
	for f, want := range map[float64]string{0.013: "0.01x", 0.4: "0.4x", 2.34: "2.3x", 140.2: "140x"} {
		same(t, prettyFactor(f), want)
	}
}

func TestWording(t *testing.T) {
	for phrase, want := range map[string]string{"": "", "it is": "It is.", "--create is": "--create is.", "relay: no": "relay: no.", "Done.": "Done.", "ähnlich": "Ähnlich."} {
		same(t, sentence(phrase), want)
	}
	same(t, lowerFirst("COPY has"), "COPY has")
	same(t, lowerFirst("The table"), "the table")
	same(t, lowerFirst(""), "")
	same(t, enumerate([]string{"a", "b", "c"}), "a, b and c")
}
