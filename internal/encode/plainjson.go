package encode

const (
	stateUntranslatable = "22P05"

	// deepestJSON bounds nesting: how deep the server goes depends on its stack.
	deepestJSON = 1024

	// longestJSONB bounds what cannot break the limits of jsonb on the lengths of strings and containers (jsonb.h).
	longestJSONB = 1<<28 - 1
)

func jsonEncoder(_ *Type, s Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		c := jsonChecker{text: text, version: s.Version}
		if err := c.check(); err != nil {
			return dst, err
		}
		return append(dst, text...), nil
	}
}

// jsonbEncoder gives version 1 of jsonb's binary form, the text. The server decodes it, so escapes and numbers must have a meaning.
func jsonbEncoder(_ *Type, s Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		if len(text) > longestJSONB {
			return dst, ErrUnsure
		}
		c := jsonChecker{text: text, version: s.Version, decode: true}
		if err := c.check(); err != nil {
			return dst, err
		}
		return append(append(dst, 1), text...), nil
	}
}

// jsonChecker reads JSON with the rules of jsonapi.c and names faults as it does.
type jsonChecker struct {
	text    []byte
	version int
	decode  bool // escapes and numbers are looked into
	start   int  // of the present token
	end     int
	pending error // of the last number; a fault of the token after it is named first
	nesting [deepestJSON / 64]uint64
	depth   int
}

// What a token is: a punctuation mark itself, or one of these.
const (
	jsonEnd    byte = 0
	jsonString byte = '"'
	jsonNumber byte = '0'
	jsonWord   byte = 't'
)

// check reads the whole text.
func (c *jsonChecker) check() error {
	token, err := c.next()
	for err == nil {
		switch token {
		case '{':
			token, err = c.open(true)
			if err == nil && token != '}' {
				if token, err = c.field(token, `Expected string or "}"`); err == nil {
					continue
				}
			}
		case '[':
			if token, err = c.open(false); err == nil && token != ']' {
				continue
			}
		case jsonString, jsonNumber, jsonWord:
			token, err = c.next()
			if err == nil && c.depth == 0 {
				return c.finish(token)
			}
		default:
			err = c.expected("Expected JSON value", token)
		}
		if err != nil {
			return err
		}
		var done bool
		if token, done, err = c.follow(token); done {
			return err
		}
	}
	return err
}

// follow reads what stands after a value in an array or object, closing those that end, up to the start of the next value.
func (c *jsonChecker) follow(token byte) (next byte, done bool, err error) {
	for {
		object := c.nesting[(c.depth-1)/64]>>((c.depth-1)%64)&1 == 1
		switch {
		case object && token == '}', !object && token == ']':
			c.depth--
			if token, err = c.next(); err != nil {
				return 0, true, err
			}
			if c.depth == 0 {
				return 0, true, c.finish(token)
			}
		case token == ',':
			if token, err = c.next(); err == nil && object {
				token, err = c.field(token, "Expected string")
			}
			return token, err != nil, err
		case object:
			return 0, true, c.expected(`Expected "," or "}"`, token)
		default:
			return 0, true, c.expected(`Expected "," or "]"`, token)
		}
	}
}

func (c *jsonChecker) finish(token byte) error {
	if token != jsonEnd {
		return c.expected("Expected end of input", token)
	}
	return nil
}

// open enters an array or object and reads the token after it.
func (c *jsonChecker) open(object bool) (byte, error) {
	if c.depth == deepestJSON {
		return 0, ErrUnsure
	}
	word, bit := &c.nesting[c.depth/64], uint64(1)<<(c.depth%64)
	*word &^= bit
	if object {
		*word |= bit
	}
	c.depth++
	return c.next()
}

// field reads a key and its colon, and returns the token after them.
func (c *jsonChecker) field(token byte, expected string) (byte, error) {
	if token != jsonString {
		return 0, c.expected(expected, token)
	}
	token, err := c.next()
	if err == nil && token != ':' {
		err = c.expected(`Expected ":"`, token)
	}
	if err != nil {
		return 0, err
	}
	return c.next()
}

// next reads a token.
func (c *jsonChecker) next() (byte, error) {
	i := c.end
	for i < len(c.text) && (c.text[i] == ' ' || c.text[i] == '\t' || c.text[i] == '\n' || c.text[i] == '\r') {
		i++
	}
	c.start, c.end = i, i
	pending := c.pending
	token, err := c.token()
	if err != nil {
		return 0, err
	}
	return token, pending
}

func (c *jsonChecker) token() (byte, error) {
	if c.start == len(c.text) {
		return jsonEnd, nil
	}
	switch first := c.text[c.start]; first {
	case '{', '}', '[', ']', ',', ':':
		c.end = c.start + 1
		return first, nil
	case '"':
		return jsonString, c.readString()
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return jsonNumber, c.readNumber()
	}
	for c.end < len(c.text) && isJSONWord(c.text[c.end]) {
		c.end++
	}
	switch string(c.text[c.start:c.end]) {
	case "true", "false", "null":
		return jsonWord, nil
	}
	c.end = max(c.end, c.start+1)
	return 0, c.invalidToken()
}

// isJSONWord tells what counts as part of a word in messages.
func isJSONWord(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || isDigit(b) || b == '_' || b >= 0x80
}

// readNumber reads a number; letters that follow make it an invalid token with them.
func (c *jsonChecker) readNumber() error {
	i := c.start
	if c.text[i] == '-' {
		i++
	}
	first := i
	valid := true
	digits := func() {
		from := i
		for i < len(c.text) && isDigit(c.text[i]) {
			i++
		}
		valid = valid && i > from
	}
	if i < len(c.text) && c.text[i] == '0' {
		i++
	} else {
		digits()
	}
	if i < len(c.text) && c.text[i] == '.' {
		i++
		digits()
	}
	exponent := i < len(c.text) && c.text[i]|0x20 == 'e'
	if exponent {
		i++
		if i < len(c.text) && (c.text[i] == '+' || c.text[i] == '-') {
			i++
		}
		digits()
	}
	c.end = i
	for c.end < len(c.text) && isJSONWord(c.text[c.end]) {
		c.end, valid = c.end+1, false
	}
	if !valid {
		return c.invalidToken()
	}
	if c.decode && (exponent || i-first > maxNumericScale) {
		c.pendingNumber(c.text[first:i])
	}
	return nil
}

// pendingNumber notes a number that jsonb cannot hold.
func (c *jsonChecker) pendingNumber(number []byte) {
	var d decimal
	_, err := d.scan(number, 0, c.version >= 16)
	if err == nil && (d.scale > maxNumericScale || len(d.text) > 0 && groupAt(d.power) > maxNumericWeight) {
		err = numericOverflow()
	}
	c.pending = err
}

func (c *jsonChecker) refuse(detail string) *Invalid {
	return &Invalid{State: stateInvalidText, Message: "invalid input syntax for type json", Detail: detail}
}

func (c *jsonChecker) invalidToken() *Invalid {
	return c.refuse("Token " + c.quoted() + " is invalid.")
}

func (c *jsonChecker) quoted() string { return `"` + string(c.text[c.start:c.end]) + `"` }

// expected names a token that stands in the wrong place.
func (c *jsonChecker) expected(what string, token byte) *Invalid {
	if token == jsonEnd {
		return c.refuse("The input string ended unexpectedly.")
	}
	return c.refuse(what + ", but found " + c.quoted() + ".")
}
