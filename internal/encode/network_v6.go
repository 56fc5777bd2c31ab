package encode

// readV6 follows inet_cidr_pton_ipv6 (inet_net_pton.c), which reads inet and cidr alike.
func readV6(text []byte) (n network, outcome networkOutcome) {
	n.size, n.bits = 16, -1
	i := 0
	if len(text) > 0 && text[0] == ':' {
		if i = 1; len(text) == 1 || text[1] != ':' {
			return n, networkBad
		}
	}
	// gap is where "::" stands, at how many bytes are read; group is where the group being read starts.
	at, gap, group := 0, -1, i
	value, digits := uint32(0), 0
	for ; i < len(text); i++ {
		c := text[i]
		if d := digitValue(c); d < 16 {
			if digits++; digits > 4 {
				return n, networkBad
			}
			value = value<<4 | uint32(d)
			continue
		}
		if c == '.' && at+4 <= 16 {
			if n.bits, outcome = readTailV4(text[group:], n.bytes[at:at+4]); outcome != networkGood {
				return n, outcome
			}
			at, digits = at+4, 0
			break
		}
		if c == '/' {
			var ok bool
			if n.bits, ok = readBitsV6(text[i+1:]); !ok {
				return n, networkBad
			}
			break
		}
		if c != ':' {
			return n, networkBad
		}
		group = i + 1
		if digits == 0 {
			if gap >= 0 {
				return n, networkBad
			}
			gap = at
			continue
		}
		if group == len(text) || at+2 > 16 {
			return n, networkBad
		}
		n.bytes[at], n.bytes[at+1] = byte(value>>8), byte(value)
		at, value, digits = at+2, 0, 0
	}
	if digits > 0 {
		if at+2 > 16 {
			return n, networkBad
		}
		n.bytes[at], n.bytes[at+1] = byte(value>>8), byte(value)
		at += 2
	}
	if n.bits < 0 {
		n.bits = 128
	}
	outcome = n.spread(gap, at)
	return n, outcome
}

// spread moves the bytes from gap to end to the end of the address.
func (n *network) spread(gap, end int) networkOutcome {
	if gap < 0 {
		if end != 16 {
			return networkBad
		}
		return networkGood
	}
	if end == 16 {
		return networkBad
	}
	tail := end - gap
	copy(n.bytes[16-tail:], n.bytes[gap:end])
	clear(n.bytes[gap : 16-tail])
	return networkGood
}

// readTailV4 reads the IPv4 address that ends an IPv6 one, with the prefix behind it; bits is -1 where there is none. As in the server's
// getv4, an octet may be empty but the last one, and fewer than four fill the first bytes.
func readTailV4(text, octets []byte) (bits int, outcome networkOutcome) {
	value, digits, at := 0, 0, 0
	for i, c := range text {
		switch {
		case isDigit(c):
			if digits > 0 && value == 0 {
				return 0, networkBad
			}
			digits++
			if value = value*10 + int(c-'0'); value > 255 {
				return 0, networkBad
			}
		case c == '.' || c == '/':
			if at > 3 {
				return 0, networkBad
			}
			octets[at] = byte(value)
			at++
			if c == '/' {
				bits, ok := readBitsV6(text[i+1:])
				if !ok {
					return 0, networkBad
				}
				return bits, networkGood
			}
			value, digits = 0, 0
		default:
			return 0, networkBad
		}
	}
	if digits == 0 || at > 3 {
		return 0, networkBad
	}
	octets[at] = byte(value)
	return -1, networkGood
}

// readBitsV6 reads the length of a prefix, without leading zeros.
func readBitsV6(text []byte) (bits int, ok bool) {
	if len(text) == 0 {
		return 0, false
	}
	for i, c := range text {
		if !isDigit(c) || i > 0 && bits == 0 {
			return 0, false
		}
		if bits = bits*10 + int(c-'0'); bits > 128 {
			return 0, false
		}
	}
	return bits, true
}
