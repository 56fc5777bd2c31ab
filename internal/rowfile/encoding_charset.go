package rowfile

import (
	"fmt"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// charset is an encoding that is not UTF-8. Characters are told apart, checked and converted as the server does it (wchar.c and its maps), whose
// maps are not quite those of golang.org/x/text.
type charset struct {
	name string // the server's (manual, "Character Set Support")
	wide wideness
	// length is how many bytes a character has that begins with first, which is not ASCII; second is 0 at the end of the text.
	length func(first, second byte) int
	// valid reports whether the bytes are a character at all.
	valid func(c []byte) bool
	// pairs are the characters of two bytes by (first-0x80)*256 + second, or those of one by first-0x80; 0 is none.
	pairs func() []rune
	// longer converts the characters of three or four bytes.
	longer encoding.Encoding
}

// rune converts one valid character, to 0 when it has no equivalent.
func (c *charset) rune(b []byte) rune {
	switch len(b) {
	case 1:
		if c.wide == wideSJIS {
			return 0xff61 + rune(b[0]) - 0xa1 // half-width katakana of SJIS
		}
		return c.pairs()[b[0]-0x80]
	case 2:
		return c.pairs()[int(b[0]-0x80)<<8|int(b[1])]
	}
	if len(b) == 3 && b[1] >= 0xf3 {
		// Rows of 94 characters; the first of the list is the 83rd of its row.
		if i := (int(b[1])-0xf3)*94 + int(b[2]) - 0xf3; i >= 0 && i < len(eucJPExtensions) {
			return eucJPExtensions[i]
		}
	}
	switch string(b) {
	case "\x8f\xa2\xb7":
		return 0
	case "\x8f\xa2\xc3":
		return 0xffe4
	}
	return decodedRune(c.longer, b)
}

// decodedRune is the one character that b stands for, 0 when it is none or several.
func decodedRune(from encoding.Encoding, b []byte) rune {
	out, err := from.NewDecoder().Bytes(b)
	r, n := utf8.DecodeRune(out)
	if err != nil || n != len(out) || r == utf8.RuneError {
		return 0
	}
	return r
}

// convert appends text in UTF-8 to dst.
func (c *charset) convert(dst, text []byte) ([]byte, *RowError) {
	start := len(dst)
	for i := 0; i < len(text); {
		b := text[i]
		if b < 0x80 && b != 0 {
			dst = append(dst, b)
			i++
			continue
		}
		n := c.lengthAt(text[i:])
		if b == 0 || n > len(text)-i || !c.valid(text[i:i+n]) {
			return dst[:start], c.invalid(text[i:min(i+n, len(text))])
		}
		r := c.rune(text[i : i+n])
		if r == 0 {
			return dst[:start], &RowError{State: stateNoEquivalent,
				Message: fmt.Sprintf(`character with byte sequence %s in encoding "%s" has no equivalent in encoding "UTF8"`, hexBytes(text[i:i+n]), c.name)}
		}
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst, nil
}

// lengthAt is how many bytes the character has that text begins with.
func (c *charset) lengthAt(text []byte) int {
	switch {
	case text[0] < 0x80:
		return 1
	case len(text) == 1:
		return c.length(text[0], 0)
	}
	return c.length(text[0], text[1])
}

// whole is the length of the start of text that cuts no character; last: nothing comes behind text.
func (c *charset) whole(text []byte, last bool) int {
	if last {
		return len(text)
	}
	i := 0
	for i < len(text) {
		n := c.lengthAt(text[i:])
		if n > len(text)-i || text[i] >= 0x80 && i+1 == len(text) {
			break
		}
		i += n
	}
	return i
}

func (c *charset) invalid(b []byte) *RowError {
	return &RowError{State: stateInvalidBytes, Message: fmt.Sprintf(`invalid byte sequence for encoding "%s": %s`, c.name, hexBytes(b))}
}

// patch puts right what golang.org/x/text has otherwise than the server: the characters from first to last are to and those that follow it, or
// none when to is 0.
type patch struct {
	first, last int
	to          rune
}

// pairTable makes the table of two-byte characters when it is first needed.
func pairTable(from encoding.Encoding, patches []patch) func() []rune {
	return sync.OnceValue(func() []rune {
		table := make([]rune, 128<<8)
		for i := range table {
			table[i] = decodedRune(from, []byte{0x80 | byte(i>>8), byte(i)})
		}
		for _, p := range patches {
			for i := p.first; i <= p.last; i++ {
				table[i-0x8000] = 0
				if p.to != 0 {
					table[i-0x8000] = p.to + rune(i-p.first)
				}
			}
		}
		return table
	})
}

// singles makes an encoding of single bytes.
func singles(name string, from *charmap.Charmap) *charset {
	table := make([]rune, 128)
	for i := range table {
		if r := from.DecodeByte(0x80 | byte(i)); r != utf8.RuneError {
			table[i] = r
		} else if i < 0x20 && (name[0] == 'L' || name[0] == 'I') {
			table[i] = 0x80 + rune(i) // ISO 8859 leaves the second set of control characters out, the server's maps have them.
		}
	}
	switch name {
	case "KOI8U":
		table[0x2e], table[0x3e] = 0x255d, 0x256c
	case "WIN1255":
		table[0x4a] = 0
	}
	return &charset{name: name, length: single, valid: anyBytes, pairs: func() []rune { return table }}
}

func single(_, _ byte) int { return 1 }

func double(_, _ byte) int { return 2 }

func sjisLength(first, _ byte) int {
	if first >= 0xa1 && first <= 0xdf {
		return 1
	}
	return 2
}

func eucJPLength(first, _ byte) int {
	if first == 0x8f {
		return 3
	}
	return 2
}

func gb18030Length(_, second byte) int {
	if second >= '0' && second <= '9' {
		return 4
	}
	return 2
}

func between(c, low, high byte) bool { return c >= low && c <= high }

// anyBytes takes all but NUL and the pair that the server keeps for what is never valid (NONUTF8_INVALID_BYTE0 in pg_wchar.h).
func anyBytes(b []byte) bool { return b[len(b)-1] != 0 && string(b) != "\x8d\x20" }

func validEUC(b []byte) bool { return between(b[0], 0xa1, 0xfe) && between(b[1], 0xa1, 0xfe) }

func validEUCJP(b []byte) bool {
	switch b[0] {
	case 0x8e:
		return between(b[1], 0xa1, 0xdf)
	case 0x8f:
		return validEUC(b[1:])
	}
	return validEUC(b)
}

func validSJIS(b []byte) bool {
	return len(b) == 1 || (between(b[0], 0x81, 0x9f) || between(b[0], 0xe0, 0xfc)) && (between(b[1], 0x40, 0x7e) || between(b[1], 0x80, 0xfc))
}

func validGB18030(b []byte) bool {
	if len(b) == 4 {
		return between(b[0], 0x81, 0xfe) && between(b[2], 0x81, 0xfe) && between(b[3], '0', '9')
	}
	return between(b[0], 0x81, 0xfe) && (between(b[1], 0x40, 0x7e) || between(b[1], 0x80, 0xfe))
}

// charsets are the encodings by the server's name in capitals without punctuation, which is how names are compared (clean_encoding_name).
var charsets = func() map[string]*charset {
	all := map[string]*charset{
		"SJIS":  {name: "SJIS", wide: wideSJIS, length: sjisLength, valid: validSJIS, pairs: pairTable(japanese.ShiftJIS, nil)},
		"EUCJP": {name: "EUC_JP", length: eucJPLength, valid: validEUCJP, pairs: pairTable(japanese.EUCJP, eucJPPatches), longer: japanese.EUCJP},
		"GBK":   {name: "GBK", wide: wideDouble, length: double, valid: anyBytes, pairs: pairTable(simplifiedchinese.GBK, gbkPatches)},
		"EUCCN": {name: "EUC_CN", length: double, valid: validEUC, pairs: pairTable(simplifiedchinese.GBK, eucCNPatches)},
		"BIG5":  {name: "BIG5", wide: wideDouble, length: double, valid: anyBytes, pairs: pairTable(traditionalchinese.Big5, big5Patches)},
		"UHC":   {name: "UHC", wide: wideDouble, length: double, valid: anyBytes, pairs: pairTable(korean.EUCKR, uhcPatches)},
		"EUCKR": {name: "EUC_KR", length: double, valid: validEUC, pairs: pairTable(korean.EUCKR, eucKRPatches)},
		"GB18030": {name: "GB18030", wide: wideGB18030, length: gb18030Length, valid: validGB18030,
			pairs: pairTable(simplifiedchinese.GB18030, gb18030Patches), longer: simplifiedchinese.GB18030},
	}
	for name, from := range map[string]*charmap.Charmap{
		"LATIN1": charmap.ISO8859_1, "LATIN2": charmap.ISO8859_2, "LATIN3": charmap.ISO8859_3, "LATIN4": charmap.ISO8859_4,
		"LATIN5": charmap.ISO8859_9, "LATIN6": charmap.ISO8859_10, "LATIN7": charmap.ISO8859_13, "LATIN8": charmap.ISO8859_14,
		"LATIN9": charmap.ISO8859_15, "LATIN10": charmap.ISO8859_16, "ISO_8859_5": charmap.ISO8859_5, "ISO_8859_6": charmap.ISO8859_6,
		"ISO_8859_7": charmap.ISO8859_7, "ISO_8859_8": charmap.ISO8859_8, "KOI8R": charmap.KOI8R, "KOI8U": charmap.KOI8U,
		"WIN866": charmap.CodePage866, "WIN874": charmap.Windows874, "WIN1250": charmap.Windows1250, "WIN1251": charmap.Windows1251,
		"WIN1252": charmap.Windows1252, "WIN1253": charmap.Windows1253, "WIN1254": charmap.Windows1254, "WIN1255": charmap.Windows1255,
		"WIN1256": charmap.Windows1256, "WIN1257": charmap.Windows1257, "WIN1258": charmap.Windows1258,
	} {
		all[bareName(name)] = singles(name, from)
	}
	for alias, name := range map[string]string{
		"ISO88591": "LATIN1", "ISO88592": "LATIN2", "ISO88593": "LATIN3", "ISO88594": "LATIN4", "ISO88599": "LATIN5", "ISO885910": "LATIN6",
		"ISO885913": "LATIN7", "ISO885914": "LATIN8", "ISO885915": "LATIN9", "ISO885916": "LATIN10", "KOI8": "KOI8R", "ALT": "WIN866",
		"WIN": "WIN1251", "WINDOWS866": "WIN866", "WINDOWS874": "WIN874", "SHIFTJIS": "SJIS", "MSKANJI": "SJIS", "WIN932": "SJIS",
		"WINDOWS932": "SJIS", "WIN936": "GBK", "WINDOWS936": "GBK", "WIN949": "UHC", "WINDOWS949": "UHC", "WIN950": "BIG5", "WINDOWS950": "BIG5",
	} {
		all[alias] = all[name]
	}
	for i := range 9 {
		all[fmt.Sprintf("WINDOWS125%d", i)] = all[fmt.Sprintf("WIN125%d", i)]
	}
	return all
}()
