package encode

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// longestMutant bounds how far insertions let a text grow.
const longestMutant = 400

// mutate makes n texts out of the seeds: bytes of the alphabet put in, taken out, changed, swapped, doubled, and parts of two seeds joined.
// The seed of its chances is that of the test's name, so that a failure comes again. All texts are valid UTF-8 without NUL.
func mutate(t testing.TB, n int, alphabet string, seeds []string) []string {
	t.Helper()
	hash := fnv.New64a()
	hash.Write([]byte(t.Name() + alphabet + seeds[0]))
	seed := hash.Sum64()
	t.Logf("mutations of seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 2))
	letters := []rune(alphabet)
	texts := make([]string, 0, n)
	for len(texts) < n {
		text := []rune(seeds[chance.IntN(len(seeds))])
		for range 1 + chance.IntN(4) {
			text = mutateOnce(chance, text, letters, seeds)
		}
		made := string(text)
		if len(made) <= longestMutant && utf8.ValidString(made) && !strings.Contains(made, "\x00") {
			texts = append(texts, made)
		}
	}
	return texts
}

func mutateOnce(chance *rand.Rand, text, letters []rune, seeds []string) []rune {
	at := chance.IntN(len(text) + 1)
	letter := letters[chance.IntN(len(letters))]
	switch chance.IntN(8) {
	case 0, 1:
		return slices.Insert(slices.Clone(text), at, letter)
	case 2:
		if at < len(text) {
			return slices.Delete(slices.Clone(text), at, at+1)
		}
	case 3, 4:
		if at < len(text) {
			changed := slices.Clone(text)
			changed[at] = letter
			return changed
		}
	case 5:
		if at+1 < len(text) {
			changed := slices.Clone(text)
			changed[at], changed[at+1] = changed[at+1], changed[at]
			return changed
		}
	case 6:
		end := at + chance.IntN(len(text)-at+1)
		return slices.Insert(slices.Clone(text), at, text[at:end]...)
	case 7:
		other := []rune(seeds[chance.IntN(len(seeds))])
		return append(slices.Clone(text[:at]), other[chance.IntN(len(other)+1):]...)
	}
	return text
}
