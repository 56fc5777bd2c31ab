package encode

import "encoding/binary"

// moneyEncoder follows cash_in (cash.c) where lc_monetary is C: dollars, commas between thousands, two places.
func moneyEncoder(*Type, Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		i := skipDollar(text, 0)
		negative := false
		if i < len(text) && (text[i] == '-' || text[i] == '(' || text[i] == '+') {
			negative = text[i] != '+'
			i++
		}
		i = skipDollar(text, i)
		cents, i, ok := readCents(text, i)
		if !ok {
			return dst, outOfRange("money", text)
		}
		for ; i < len(text); i++ {
			switch c := text[i]; {
			case c == '-':
				negative = true
			case c == ')' || c == '+' || c == '$' || isSpace(c):
			default:
				return dst, invalidSyntax("money", text)
			}
		}
		if !negative {
			if cents == 1<<63 {
				return dst, outOfRange("money", text)
			}
			return binary.BigEndian.AppendUint64(dst, cents), nil
		}
		return binary.BigEndian.AppendUint64(dst, -cents), nil
	}
}

// skipDollar skips white space around one sign of currency.
func skipDollar(text []byte, i int) int {
	i = skipSpace(text, i)
	if i < len(text) && text[i] == '$' {
		i++
	}
	return skipSpace(text, i)
}

// readCents reads an amount and rounds it by the digit after its last place. It is not ok above 1<<63, the magnitude of the least amount.
func readCents(text []byte, i int) (cents uint64, end int, ok bool) {
	const places = 2
	point, decimals := false, 0
	add := func(factor, d uint64) bool {
		if cents > (1<<63-d)/factor {
			return false
		}
		cents = cents*factor + d
		return true
	}
	for ; i < len(text); i++ {
		c := text[i]
		if isDigit(c) && decimals < places {
			if !add(10, uint64(c-'0')) {
				return 0, 0, false
			}
			if point {
				decimals++
			}
		} else if c == '.' && !point {
			point = true
		} else if c != ',' {
			break
		}
	}
	if i < len(text) && isDigit(text[i]) && text[i] >= '5' && !add(1, 1) {
		return 0, 0, false
	}
	for ; decimals < places; decimals++ {
		if !add(10, 0) {
			return 0, 0, false
		}
	}
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return cents, i, true
}
