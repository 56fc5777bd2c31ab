package encode

// arrayState is what stands before a character (ArrayParseState of arrayfuncs.c before 17).
type arrayState uint8

const (
	noLevel arrayState = 1 << iota
	levelStarted
	elemStarted
	quoteStarted
	quoteDone
	levelDone
	elemDelimited
	levelDelimited
)

// count follows ArrayCount of the versions before 17, which judges the whole text and finds the dimensions before any element is read.
// Messages of what is in braces show the text from there only. It is not sure about elements at different depths: those versions take some
// of them, and fill what is not there with nulls.
func (k *arrayKind) count(shape *arrayShape, text []byte, start int) error {
	c := arrayCounter{arrayKind: k, text: text[start:], state: noLevel, deepest: 1}
	for i := range c.lengths {
		c.lengths[i] = 1
	}
	end, err := c.run()
	if err != nil {
		return err
	}
	if skipSpace(c.text, end) < len(c.text) {
		return malformedArray(c.text, arrayJunk)
	}
	if !shape.given {
		return c.sure()
	}
	if c.lowest == 0 || c.deepest != shape.n {
		return malformedArray(text, arrayMismatch)
	}
	if err := c.sure(); err != nil {
		return err
	}
	for d := range shape.n {
		if c.last[d] != shape.length[d] {
			return malformedArray(text, arrayMismatch)
		}
	}
	return nil
}

// arrayCounter is the state of count.
type arrayCounter struct {
	*arrayKind
	text           []byte
	state          arrayState
	depth, deepest int
	lowest         int                // depth of the element that is the least deep; 0 for no element
	lengths, last  [maxDimensions]int // of the level being read, and of the last one that ended
}

func (c *arrayCounter) sure() error {
	if c.lowest != 0 && c.lowest != c.deepest {
		return ErrUnsure
	}
	return nil
}

func (c *arrayCounter) unexpected(char byte) error { return malformedArray(c.text, unexpected(char)) }

// run reads up to the brace that ends the array, and returns what follows it.
func (c *arrayCounter) run() (end int, err error) {
	for i := 0; i < len(c.text); i++ {
		switch char := c.text[i]; {
		case char == '\\':
			if c.state&(levelStarted|elemStarted|quoteStarted|elemDelimited) == 0 {
				return i, c.unexpected(char)
			}
			if c.state != quoteStarted {
				c.start(elemStarted)
			}
			i++
		case char == '"' && c.state == quoteStarted:
			c.state = quoteDone
		case c.state == quoteStarted:
		case char == '"':
			if c.state&(levelStarted|elemDelimited) == 0 {
				return i, malformedArray(c.text, arrayElement)
			}
			c.start(quoteStarted)
		case char == '{':
			if c.state&(noLevel|levelStarted|levelDelimited) == 0 {
				return i, c.unexpected(char)
			}
			if c.depth == maxDimensions {
				return i, c.tooDeep()
			}
			c.state = levelStarted
			c.depth++
			c.deepest = max(c.deepest, c.depth)
		case char == '}':
			if err := c.endLevel(); err != nil {
				return i, err
			}
			if c.depth == 0 {
				return i + 1, nil
			}
		case char == c.delim:
			if c.state&(elemStarted|quoteDone|levelDone) == 0 {
				return i, c.unexpected(char)
			}
			if c.state == levelDone {
				c.state = levelDelimited
			} else {
				c.state = elemDelimited
			}
			c.lengths[c.depth-1]++
		case !isSpace(char):
			if c.state&(levelStarted|elemStarted|elemDelimited) == 0 {
				return i, malformedArray(c.text, arrayElement)
			}
			c.start(elemStarted)
		}
	}
	return len(c.text), malformedArray(c.text, arrayEnds)
}

// start notes that an element is being read.
func (c *arrayCounter) start(state arrayState) {
	c.state = state
	if c.lowest == 0 || c.depth < c.lowest {
		c.lowest = c.depth
	}
}

func (c *arrayCounter) endLevel() error {
	if c.state&(elemStarted|quoteDone|levelDone) == 0 && !(c.depth == 1 && c.state == levelStarted) {
		return c.unexpected('}')
	}
	c.state = levelDone
	c.depth--
	if last := c.last[c.depth]; last != 0 && last != c.lengths[c.depth] {
		return malformedArray(c.text, arrayDimensions)
	}
	c.last[c.depth], c.lengths[c.depth] = c.lengths[c.depth], 1
	return nil
}
