package encode

// networkTypes are the types of network addresses.
var networkTypes = map[uint32]maker{
	869: networkEncoder("inet"),
	650: networkEncoder("cidr"),
	829: macEncoder,
	774: mac8Encoder,
}

// Address families of the binary form (utils/inet.h): AF_INET, and one more for IPv6 whatever the machine's AF_INET6 is.
const (
	familyV4 = 2
	familyV6 = 3
)

// network is an address with the length of its prefix.
type network struct {
	bytes [16]byte
	size  int // 4 or 16
	bits  int
}

// networkEncoder follows network_in (network.c). The binary form is family, bits, whether it is a cidr, size, address.
func networkEncoder(typeName string) maker {
	cidr := typeName == "cidr"
	flag := byte(0)
	if cidr {
		flag = 1
	}
	return func(*Type, Settings) Encoder {
		return func(dst, text []byte) ([]byte, error) {
			n, outcome := readNetwork(text, cidr)
			switch {
			case outcome == networkUnsure:
				return dst, ErrUnsure
			case outcome == networkBad:
				return dst, invalidSyntax(typeName, text)
			case cidr && n.hasHost():
				return dst, &Invalid{State: stateInvalidText, Message: `invalid cidr value: "` + string(text) + `"`,
					Detail: "Value has bits set to right of mask."}
			}
			family := byte(familyV4)
			if n.size == 16 {
				family = familyV6
			}
			dst = append(dst, family, byte(n.bits), flag, byte(n.size))
			return append(dst, n.bytes[:n.size]...), nil
		}
	}
}

// networkOutcome is how the reading of an address ended.
type networkOutcome uint8

const (
	networkGood networkOutcome = iota
	networkBad
	networkUnsure
)

// longestBits is how many digits of a prefix length are read here: the server counts more of them in an int that may overflow.
const longestBits = 9

func readNetwork(text []byte, cidr bool) (network, networkOutcome) {
	for _, c := range text {
		if c == ':' {
			return readV6(text)
		}
	}
	if cidr {
		return readCidrV4(text)
	}
	return readInetV4(text)
}

// hasHost tells whether a bit right of the prefix is set.
func (n *network) hasHost() bool {
	at := n.bits / 8
	if at < n.size && n.bytes[at]&(0xff>>(n.bits%8)) != 0 {
		return true
	}
	for at++; at < n.size; at++ {
		if n.bytes[at] != 0 {
			return true
		}
	}
	return false
}

// readInetV4 follows inet_net_pton_ipv4 (inet_net_pton.c): octets may be missing where a prefix says so, and a point may end them.
func readInetV4(text []byte) (n network, outcome networkOutcome) {
	i, octets := 0, 0
	for i < len(text) && isDigit(text[i]) {
		var ok bool
		if n.bytes[octets&3], i, ok = readOctet(text, i); !ok || octets == 4 {
			return n, networkBad
		}
		octets++
		if i == len(text) || text[i] == '/' {
			break
		}
		if text[i] != '.' {
			return n, networkBad
		}
		i++
	}
	bits, outcome := readPrefix(text, i, octets)
	if outcome != networkGood {
		return n, outcome
	}
	if bits < 0 {
		if octets != 4 {
			return n, networkBad
		}
		bits = 32
	}
	if octets == 0 || bits/8 > octets {
		return n, networkBad
	}
	n.size, n.bits = 4, bits
	return n, networkGood
}

// readCidrV4 follows inet_cidr_pton_ipv4: octets or hexadecimal digits, and where there is no prefix it is that of the address's class.
func readCidrV4(text []byte) (n network, outcome networkOutcome) {
	i, octets := 0, 0
	if len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x' && digitValue(text[2]) < 16 {
		digits := 0
		for i = 2; i < len(text) && digitValue(text[i]) < 16; i++ {
			if digits == 8 {
				return n, networkBad
			}
			n.bytes[digits/2] |= byte(digitValue(text[i])) << (4 - digits%2*4)
			digits++
		}
		octets = (digits + 1) / 2
	} else {
		for {
			if i == len(text) || !isDigit(text[i]) || octets == 4 {
				return n, networkBad
			}
			var ok bool
			if n.bytes[octets], i, ok = readOctet(text, i); !ok {
				return n, networkBad
			}
			octets++
			if i == len(text) || text[i] == '/' {
				break
			}
			if text[i] != '.' {
				return n, networkBad
			}
			i++
		}
	}
	bits, outcome := readPrefix(text, i, octets)
	if outcome != networkGood {
		return n, outcome
	}
	if bits < 0 {
		bits = classBits(n.bytes[0], octets)
	}
	n.size, n.bits = 4, bits
	return n, networkGood
}

// classBits is the length of the network part by the classes of RFC 791, which as many octets as are given widen.
func classBits(first byte, octets int) int {
	bits := 8
	switch {
	case first >= 240:
		bits = 32
	case first >= 224:
	case first >= 192:
		bits = 24
	case first >= 128:
		bits = 16
	}
	bits = max(bits, octets*8)
	if bits == 8 && first == 224 {
		bits = 4
	}
	return bits
}

// readOctet reads digits, of which there is one at least.
func readOctet(text []byte, i int) (octet byte, end int, ok bool) {
	v := 0
	for ; i < len(text) && isDigit(text[i]); i++ {
		if v = v*10 + int(text[i]-'0'); v > 255 {
			return 0, i, false
		}
	}
	return byte(v), i, true
}

// readPrefix reads what follows the octets, up to the end: nothing, which is -1, or a slash and the length of the prefix.
func readPrefix(text []byte, i, octets int) (bits int, outcome networkOutcome) {
	if i == len(text) {
		return -1, networkGood
	}
	if text[i] != '/' || octets == 0 || i+1 == len(text) {
		return 0, networkBad
	}
	digits := text[i+1:]
	for _, c := range digits {
		if !isDigit(c) {
			return 0, networkBad
		}
	}
	if len(digits) > longestBits {
		return 0, networkUnsure
	}
	for _, c := range digits {
		bits = bits*10 + int(c-'0')
	}
	if bits > 32 {
		return 0, networkBad
	}
	return bits, networkGood
}
