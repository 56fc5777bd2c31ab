package encode

// quickDigits is how many digits the quick way reads: they fill four groups, and any number of them fits in 64 bits.
const quickDigits = 16

// integerPowers are the powers of ten up to quickDigits.
var integerPowers = func() (powers [quickDigits + 1]uint64) {
	powers[0] = 1
	for i := range quickDigits {
		powers[i+1] = powers[i] * 10
	}
	return powers
}()

// appendQuickNumeric reads digits with at most one point between them that the limit holds without rounding. It is not ok for others.
func appendQuickNumeric(dst, text []byte, limit *numericLimit) ([]byte, bool) {
	var sign uint16
	if len(text) > 0 && text[0] == '-' {
		text, sign = text[1:], numericNegative
	}
	if len(text) == 0 || len(text) > quickDigits {
		return dst, false
	}
	var value uint64
	point := len(text)
	for i, c := range text {
		if d := c - '0'; d <= 9 {
			value = value*10 + uint64(d)
			continue
		}
		if c != '.' || point < len(text) || i == 0 {
			return dst, false
		}
		point = i
	}
	places := max(len(text)-point-1, 0)
	scale := places
	whole := value / integerPowers[places]
	if limit.set {
		scale = limit.scale
		if room := limit.precision - scale; places > scale || room < 0 || room < quickDigits && whole >= integerPowers[room] {
			return dst, false
		}
	}
	if value == 0 {
		return appendNumericHead(dst, 0, 0, 0, scale), true
	}
	// Two halves of four groups: before the point and after it.
	fraction := (value - whole*integerPowers[places]) * integerPowers[quickDigits-places]
	groups := [2 * quickDigits / 4]uint16{
		uint16(whole / 1e12), uint16(whole / 1e8 % 1e4), uint16(whole / 1e4 % 1e4), uint16(whole % 1e4),
		uint16(fraction / 1e12), uint16(fraction / 1e8 % 1e4), uint16(fraction / 1e4 % 1e4), uint16(fraction % 1e4),
	}
	first, last := 0, len(groups)
	for groups[first] == 0 {
		first++
	}
	for groups[last-1] == 0 {
		last--
	}
	dst = appendNumericHead(dst, last-first, quickDigits/4-1-first, sign, scale)
	for _, group := range groups[first:last] {
		dst = append(dst, byte(group>>8), byte(group))
	}
	return dst, true
}
