package planner

import "strings"

// nearest is the writable column of the target whose name is likest to a name that is none, empty when none is like it.
func (s *loading) nearest(name string) string {
	best, least := "", len(name)/2+1
	for _, have := range s.writableNames() {
		if d := distance([]rune(strings.ToLower(name)), []rune(strings.ToLower(have))); d < least {
			best, least = have, d
		}
	}
	return best
}

// distance is how many letters must be put in, taken out or changed to make one word of the other.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0]++
		for j := range b {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}
