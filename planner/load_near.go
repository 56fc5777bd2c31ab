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

// distance is how many letters must be put in, taken out, changed or exchanged with their neighbours to make one word of the other.
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], 1+rows[i-2][j-2])
			}
		}
	}
	return rows[len(a)][len(b)]
}
